//! Memory snapshots as PyTorch pickles them.
//!
//! A file is data, never code: the machine accepts the opcodes that data needs, and refuses the
//! others by name. It builds no tree of values: a frame is interned, a stack becomes a number and
//! an event a row in the columns as soon as its last byte is read. Read `machine` first.

mod assemble;
mod containers;
mod cursor;
mod fields;
mod machine;
mod opcode;
mod path;
mod rows;
mod tables;
mod traces;
mod value;
mod words;

pub(super) use cursor::PickleReader;

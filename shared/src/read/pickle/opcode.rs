//! The opcodes of pickle, by the names of Python's `pickletools`: those accepted, and why the
//! others are not.

use crate::read::ReadErrorKind;

macro_rules! opcodes {
    ($($name:ident = $byte:literal;)*) => {
        $(pub(super) const $name: u8 = $byte;)*
    };
}

opcodes! {
    PROTO = 0x80; FRAME = 0x95; STOP = b'.'; MARK = b'('; POP = b'0'; POP_MARK = b'1';
    MEMOIZE = 0x94; BINPUT = b'q'; LONG_BINPUT = b'r'; BINGET = b'h'; LONG_BINGET = b'j';
    EMPTY_DICT = b'}'; DICT = b'd'; SETITEM = b's'; SETITEMS = b'u';
    EMPTY_LIST = b']'; LIST = b'l'; APPEND = b'a'; APPENDS = b'e';
    EMPTY_TUPLE = b')'; TUPLE = b't'; TUPLE1 = 0x85; TUPLE2 = 0x86; TUPLE3 = 0x87;
    SHORT_BINUNICODE = 0x8c; BINUNICODE = b'X'; BINUNICODE8 = 0x8d;
    BININT = b'J'; BININT1 = b'K'; BININT2 = b'M'; LONG1 = 0x8a; LONG4 = 0x8b;
    BINFLOAT = b'G'; NEWTRUE = 0x88; NEWFALSE = 0x89; NONE = b'N';
    GLOBAL = b'c'; INST = b'i'; STACK_GLOBAL = 0x93;
}

/// What to say of an opcode that is not accepted. GLOBAL, INST and STACK_GLOBAL name an object,
/// which the caller reads.
pub(super) fn refusal(opcode: u8, object: Option<String>) -> ReadErrorKind {
    let refused = |opcode| ReadErrorKind::RefusedOpcode { opcode, object };
    let unused = |opcode, why| ReadErrorKind::UnusedOpcode { opcode, why };
    match opcode {
        GLOBAL => refused("GLOBAL"),
        STACK_GLOBAL => refused("STACK_GLOBAL"),
        INST => refused("INST"),
        b'R' => refused("REDUCE"),
        b'b' => refused("BUILD"),
        b'o' => refused("OBJ"),
        0x81 => refused("NEWOBJ"),
        0x92 => refused("NEWOBJ_EX"),
        0x82 => refused("EXT1"),
        0x83 => refused("EXT2"),
        0x84 => refused("EXT4"),
        b'P' => refused("PERSID"),
        b'Q' => refused("BINPERSID"),
        b'I' => unused("INT", TEXTUAL),
        b'L' => unused("LONG", TEXTUAL),
        b'F' => unused("FLOAT", TEXTUAL),
        b'S' => unused("STRING", TEXTUAL),
        b'V' => unused("UNICODE", TEXTUAL),
        b'g' => unused("GET", TEXTUAL),
        b'p' => unused("PUT", TEXTUAL),
        b'2' => unused("DUP", "it repeats a value"),
        b'T' => unused("BINSTRING", BYTES),
        b'U' => unused("SHORT_BINSTRING", BYTES),
        b'B' => unused("BINBYTES", BYTES),
        b'C' => unused("SHORT_BINBYTES", BYTES),
        0x8e => unused("BINBYTES8", BYTES),
        0x96 => unused("BYTEARRAY8", BYTES),
        0x97 => unused("NEXT_BUFFER", "its data lie outside of the file"),
        0x98 => unused("READONLY_BUFFER", "its data lie outside of the file"),
        0x8f => unused("EMPTY_SET", SETS),
        0x90 => unused("ADDITEMS", SETS),
        0x91 => unused("FROZENSET", SETS),
        other => ReadErrorKind::UnknownOpcode(other),
    }
}

const TEXTUAL: &str = "it belongs to text pickles";
const BYTES: &str = "it holds raw bytes";
const SETS: &str = "it holds a set";

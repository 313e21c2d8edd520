//! Files that people choose or drop, folders included.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use web_sys::{
    DataTransfer, File, FileList, FileSystemDirectoryEntry, FileSystemEntry, FileSystemFileEntry,
};

/// Names that a folder's other files have are passed over; chosen files are always tried.
fn looks_like_recording(name: &str) -> bool {
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    [".pickle", ".pkl", ".vtrace", ".html"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// The files of a file input.
pub(crate) fn from_list(list: &FileList) -> Vec<File> {
    let files: Vec<File> = (0..list.length())
        .filter_map(|place| list.item(place))
        .collect();
    if files.len() == 1 {
        return files;
    }
    files
        .into_iter()
        .filter(|file| looks_like_recording(&file.name()))
        .collect()
}

/// The files of a drop; those inside of folders come later, each folder by itself.
pub(crate) fn from_drop(dropped: &DataTransfer, found: impl Fn(Vec<File>) + 'static) {
    let found: Rc<dyn Fn(Vec<File>)> = Rc::new(found);
    let items = dropped.items();
    let entries: Vec<FileSystemEntry> = (0..items.length())
        .filter_map(|place| items.get(place)?.webkit_get_as_entry().ok().flatten())
        .collect();
    let folders: Vec<&FileSystemEntry> = entries
        .iter()
        .filter(|entry| entry.is_directory())
        .collect();
    for folder in &folders {
        read_folder(folder.unchecked_ref(), &found);
    }
    if folders.is_empty()
        && let Some(list) = dropped.files()
    {
        found(from_list(&list));
        return;
    }
    for entry in entries.iter().filter(|entry| entry.is_file()) {
        read_file(entry.unchecked_ref(), &found);
    }
}

type OnBatch = Closure<dyn FnMut(JsValue)>;

fn read_folder(folder: &FileSystemDirectoryEntry, found: &Rc<dyn Fn(Vec<File>)>) {
    let reader = folder.create_reader();
    let again = reader.clone();
    let found = Rc::clone(found);
    // A folder comes in batches; the handler asks for the next until one is empty.
    let handler: Rc<RefCell<Option<OnBatch>>> = Rc::default();
    let inner = Rc::clone(&handler);
    *handler.borrow_mut() = Some(Closure::new(move |batch: JsValue| {
        let batch = js_sys::Array::from(&batch);
        for entry in batch.iter() {
            let entry: FileSystemEntry = entry.unchecked_into();
            if entry.is_directory() {
                read_folder(entry.unchecked_ref(), &found);
            } else if looks_like_recording(&entry.name()) {
                read_file(entry.unchecked_ref(), &found);
            }
        }
        if batch.length() > 0
            && let Some(handler) = &*inner.borrow()
        {
            let _ = again.read_entries_with_callback(handler.as_ref().unchecked_ref());
        }
    }));
    if let Some(first) = &*handler.borrow() {
        let _ = reader.read_entries_with_callback(first.as_ref().unchecked_ref());
    }
}

fn read_file(entry: &FileSystemFileEntry, found: &Rc<dyn Fn(Vec<File>)>) {
    let found = Rc::clone(found);
    let handler = Closure::once_into_js(move |file: File| found(vec![file]));
    entry.file_with_callback(handler.unchecked_ref());
}

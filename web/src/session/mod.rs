//! What the page knows: the recordings that are open, which one is shown, language and theme.
//! Read [`Session`] first, then [`stage::Stage`], which is one recording on screen.

mod answers;
pub(crate) mod bell;
pub(crate) mod files;
pub(crate) mod gallery;
pub(crate) mod link;
pub(crate) mod served;
mod slot;
pub(crate) mod stage;
pub(crate) mod transport;

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;

use shared::query::{Query, Reply};
use wasm_bindgen::JsValue;
use web_sys::File;

use self::bell::{Bell, Topic};
use self::gallery::{BuiltIn, built_in};
use self::link::Link;
use self::served::Served;
use self::stage::Stage;
use crate::draw::frame;
use crate::draw::pictures::Pictures;
use crate::platform;
use crate::text::{self, Language};
use crate::theme::Theme;
use crate::ui::{AT_ID, SLIDER_ID, at_text};
use crate::worker::host::{Host, Opening};
use crate::worker::message::{Failure, Source};

/// Milliseconds after a change until the link says it.
const LINK_DELAY_MS: f64 = 300.0;

/// A recording that is open or on its way.
#[derive(Debug)]
pub(crate) struct Tab {
    pub(crate) id: u32,
    /// As it is called on its tab and in the link.
    pub(crate) name: String,
    origin: Origin,
    phase: RefCell<Phase>,
    // Ends the worker when the tab goes.
    host: RefCell<Option<Host>>,
}

/// Where a recording came from, as far as a link can say it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    BuiltIn,
    Url(String),
    File,
}

/// How far a recording is.
#[derive(Clone, Debug)]
pub(crate) enum Phase {
    Opening {
        done_bytes: u64,
        total_bytes: Option<u64>,
    },
    Failed(Failure),
    Open(Rc<Stage>),
}

impl Tab {
    pub(crate) fn phase(&self) -> Phase {
        self.phase.borrow().clone()
    }

    /// The name as people read it.
    pub(crate) fn title(&self) -> String {
        match (&self.origin, built_in(&self.name)) {
            (Origin::BuiltIn, Some(built_in)) => built_in.title.text().to_owned(),
            _ => self.name.clone(),
        }
    }
}

/// The state of the page besides what a stage shows.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) bell: Bell,
    pub(crate) pictures: Pictures,
    tabs: RefCell<Vec<Rc<Tab>>>,
    active: Cell<u32>,
    last_id: Cell<u32>,
    theme: Cell<Theme>,
    served: RefCell<Vec<Served>>,
    /// What the address said when the page was opened, until a recording takes it.
    wanted: RefCell<Option<Link>>,
    link_written_ms: Cell<f64>,
}

/// The session as components get it.
#[derive(Clone, Debug)]
pub(crate) struct SessionContext(Rc<Session>);

impl PartialEq for SessionContext {
    fn eq(&self, other: &SessionContext) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for SessionContext {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0
    }
}

impl SessionContext {
    /// Takes language, theme and view from the address and from the last visit, and begins to
    /// draw.
    pub(crate) fn start() -> SessionContext {
        let session = SessionContext(Rc::default());
        let link = Link::parse(&platform::address_hash());
        let stored = platform::stored("language").and_then(|code| Language::from_code(&code));
        let preferred = || {
            platform::preferred_languages()
                .iter()
                .find_map(|code| Language::from_code(code))
        };
        let language = link
            .language
            .or(stored)
            .or_else(preferred)
            .unwrap_or_default();
        session.show_language(language);
        let stored = platform::stored("theme").and_then(|code| Theme::from_code(&code));
        let theme = link.theme.or(stored).unwrap_or_default();
        session.theme.set(theme);
        theme.apply();
        let in_frame = session.clone();
        frame::set_task(move |now_ms| in_frame.frame(now_ms));
        session.follow(link);
        let asking = session.clone();
        wasm_bindgen_futures::spawn_local(async move {
            let list = served::list().await;
            asking.served.replace(list);
            asking.bell.ring(Topic::SERVED);
        });
        session
    }

    /// Opens what a link names.
    fn follow(&self, link: Link) {
        let name = link.recording.clone().unwrap_or_default();
        let url = link.url.clone();
        *self.wanted.borrow_mut() = Some(link);
        if let Some(built_in) = built_in(&name) {
            self.open_built_in(&built_in);
        } else if let Some(url) = url {
            self.open_url(&url);
        }
    }

    /// Opens files, each in a tab of its own.
    pub(crate) fn open_files(&self, files: Vec<File>) {
        for file in files {
            self.open(file.name(), Origin::File, &Source::Attached, &file);
        }
    }

    pub(crate) fn open_built_in(&self, built_in: &BuiltIn) {
        let source = Source::Url(platform::absolute_url(&built_in.url()));
        self.open(
            built_in.name.clone(),
            Origin::BuiltIn,
            &source,
            &JsValue::UNDEFINED,
        );
    }

    /// Opens a recording from an address.
    pub(crate) fn open_url(&self, url: &str) {
        let url = platform::absolute_url(url);
        let name = url
            .split(['?', '#'])
            .next()
            .and_then(|path| path.rsplit('/').next());
        let name = name
            .filter(|name| !name.is_empty())
            .unwrap_or(&url)
            .to_owned();
        let source = Source::Url(url.clone());
        self.open(name, Origin::Url(url), &source, &JsValue::UNDEFINED);
    }

    fn open(&self, name: String, origin: Origin, source: &Source, attachment: &JsValue) {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let tab = Rc::new(Tab {
            id,
            name,
            origin,
            phase: RefCell::new(Phase::Opening {
                done_bytes: 0,
                total_bytes: None,
            }),
            host: RefCell::default(),
        });
        self.tabs.borrow_mut().push(Rc::clone(&tab));
        let session = self.clone();
        let opening = Rc::downgrade(&tab);
        let host = Host::open(source, attachment, move |news| {
            if let Some(tab) = opening.upgrade() {
                session.hear(&tab, news);
            }
        });
        *tab.host.borrow_mut() = Some(host);
        self.show_tab(id);
    }

    fn hear(&self, tab: &Rc<Tab>, news: Opening) {
        match news {
            Opening::Progress {
                done_bytes,
                total_bytes,
            } => {
                *tab.phase.borrow_mut() = Phase::Opening {
                    done_bytes,
                    total_bytes,
                };
                self.bell.ring(Topic::TABS);
            }
            Opening::Failed(failure) => {
                *tab.phase.borrow_mut() = Phase::Failed(failure);
                tab.host.borrow_mut().take();
                self.bell.ring(Topic::TABS);
            }
            Opening::Opened => self.ask_overview(tab),
        }
    }

    fn ask_overview(&self, tab: &Rc<Tab>) {
        let Some(host) = tab.host.borrow().clone() else {
            return;
        };
        let session = self.clone();
        let tab = Rc::clone(tab);
        host.clone().ask(Query::Overview, move |reply| {
            let Reply::Overview(overview) = reply else {
                return;
            };
            let link = session.take_wanted(&tab);
            let stage = Stage::new(host, Rc::new(*overview), session.bell.clone(), &link);
            *tab.phase.borrow_mut() = Phase::Open(stage);
            session.bell.ring(Topic::TABS);
            frame::request();
        });
    }

    /// The view that the address asked for, if it was about this recording.
    fn take_wanted(&self, tab: &Tab) -> Link {
        let mut wanted = self.wanted.borrow_mut();
        let is_meant = wanted.as_ref().is_some_and(|link| {
            link.recording.as_ref() == Some(&tab.name)
                || matches!(&tab.origin, Origin::Url(url)
                    if link.url.as_deref().map(platform::absolute_url).as_ref() == Some(url))
        });
        if is_meant {
            wanted.take().unwrap_or_default()
        } else {
            Link::default()
        }
    }
}

impl Session {
    pub(crate) fn tabs(&self) -> Vec<Rc<Tab>> {
        self.tabs.borrow().clone()
    }

    /// The tab that is shown; none on the first screen.
    pub(crate) fn active_tab(&self) -> Option<Rc<Tab>> {
        self.tabs
            .borrow()
            .iter()
            .find(|tab| tab.id == self.active.get())
            .cloned()
    }

    /// The recording that is shown, once it is open.
    pub(crate) fn stage(&self) -> Option<Rc<Stage>> {
        match self.active_tab()?.phase() {
            Phase::Open(stage) => Some(stage),
            _ => None,
        }
    }

    /// Shows a tab; 0 is the first screen.
    pub(crate) fn show_tab(&self, id: u32) {
        self.active.set(id);
        let title = self
            .active_tab()
            .map(|tab| text::page_title_of(tab.title()));
        platform::set_title(&title.unwrap_or_else(text::page_title));
        if let Some(stage) = self.stage() {
            let mut state = stage.state_mut();
            state.is_dirty = true;
            state.is_link_stale = true;
        } else {
            self.write_link();
        }
        self.bell.ring(Topic::TABS);
        frame::request();
    }

    /// Closes a tab and gives its memory back.
    pub(crate) fn close_tab(&self, id: u32) {
        let next = {
            let mut tabs = self.tabs.borrow_mut();
            let place = tabs.iter().position(|tab| tab.id == id).unwrap_or(0);
            tabs.retain(|tab| tab.id != id);
            tabs.get(place.saturating_sub(1)).map_or(0, |tab| tab.id)
        };
        self.show_tab(if self.active.get() == id {
            next
        } else {
            self.active.get()
        });
    }

    /// The recordings that the server offers.
    pub(crate) fn served(&self) -> Vec<Served> {
        self.served.borrow().clone()
    }

    pub(crate) fn theme(&self) -> Theme {
        self.theme.get()
    }

    /// Shows the page in a theme and remembers it.
    pub(crate) fn choose_theme(&self, theme: Theme) {
        self.theme.set(theme);
        theme.apply();
        platform::store("theme", theme.code());
        self.restyle();
        self.write_link();
        self.bell.ring(Topic::FRAME);
    }

    /// Colours have changed: pictures take them anew.
    pub(crate) fn restyle(&self) {
        self.pictures.restyle();
        if let Some(stage) = self.stage() {
            stage.redraw();
        }
    }

    /// Shows the page in a language and remembers it.
    pub(crate) fn choose_language(&self, language: Language) {
        self.show_language(language);
        platform::store("language", language.code());
        self.write_link();
        self.bell.ring(Topic::FRAME);
        self.restyle();
    }

    fn show_language(&self, language: Language) {
        text::set_language(language);
        platform::set_root_attribute("lang", language.code());
    }

    /// One frame: let time pass, ask, draw, keep the link true. Says whether another is wanted.
    fn frame(&self, now_ms: f64) -> bool {
        let Some(stage) = self.stage() else {
            return false;
        };
        let mut wants_more = stage.advance(now_ms);
        if std::mem::take(&mut stage.state_mut().is_dirty) {
            self.pictures.draw(&stage);
        }
        let (at, events, is_playing) = {
            let transport = &stage.state().transport;
            (transport.at, transport.events, transport.is_playing)
        };
        if is_playing {
            platform::set_value(SLIDER_ID, &at.to_string());
            platform::set_text(AT_ID, &at_text(at, events));
        }
        let is_stale = stage.state().is_link_stale;
        if is_stale && !stage.state().transport.is_playing {
            if now_ms - self.link_written_ms.get() >= LINK_DELAY_MS {
                self.link_written_ms.set(now_ms);
                stage.state_mut().is_link_stale = false;
                self.write_link();
            } else {
                wants_more = true;
            }
        }
        wants_more || stage.state().is_dirty
    }

    fn write_link(&self) {
        if self.active_tab().is_some() && self.stage().is_none() {
            // On its way: the address still says which view of it is wanted.
            return;
        }
        let wanted = self.wanted.borrow().clone().unwrap_or_default();
        let mut link = if self.active_tab().is_some() {
            Link::default()
        } else {
            wanted
        };
        if let Some(tab) = self.active_tab() {
            match &tab.origin {
                Origin::Url(url) => link.url = Some(url.clone()),
                Origin::BuiltIn | Origin::File => link.recording = Some(tab.name.clone()),
            }
        }
        if let Some(stage) = self.stage() {
            stage.write_link(&mut link);
        }
        link.language = Some(text::language());
        link.theme = Some(self.theme.get());
        platform::replace_address_hash(&link.to_hash());
    }

    /// The file that the address asks for, which only the reader can choose again.
    pub(crate) fn wanted_file(&self) -> Option<String> {
        let wanted = self.wanted.borrow();
        let link = wanted.as_ref()?;
        link.recording
            .clone()
            .filter(|name| link.url.is_none() && built_in(name).is_none())
    }
}

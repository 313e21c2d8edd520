use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thirtyfour::prelude::ElementQueryable;
use thirtyfour::{By, TypingData, WebDriver, WebElement};

use super::driver::Driver;
use crate::server::Server;

/// How long a condition may take. Long, since the machine may be busy; nothing waits longer than
/// it has to.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a condition is looked at.
const BETWEEN_LOOKS: Duration = Duration::from_millis(25);

/// An open page, and the server behind it.
#[derive(Debug)]
pub struct Page {
    browser: WebDriver,
    server: Server,
    /// Reading the console empties it, so what was read is kept.
    console: Mutex<Vec<(String, String)>>,
}

impl Page {
    pub(super) async fn open(
        driver: &Driver,
        server: Server,
        (width, height): (u32, u32),
    ) -> Result<Self> {
        let browser = driver.session((width, height)).await?;
        let page = Self {
            browser,
            server,
            console: Mutex::default(),
        };
        // The window has borders; what counts is the size of the page.
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        let sized = page
            .devtools("Emulation.setDeviceMetricsOverride", metrics)
            .await;
        if let Err(error) = sized {
            page.close().await?;
            return Err(error);
        }
        Ok(page)
    }

    pub(super) async fn close(self) -> Result<()> {
        Ok(self.browser.quit().await?)
    }

    /// The server behind it.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The session, for what has no method here.
    #[must_use]
    pub fn browser(&self) -> &WebDriver {
        &self.browser
    }

    /// Loads the page afresh, with this behind the `#`.
    ///
    /// # Errors
    /// Where it cannot be loaded.
    pub async fn go(&self, fragment: &str) -> Result<()> {
        // Without this, a link that differs behind the `#` alone would not load anything.
        self.browser.goto("about:blank").await?;
        let address = self.server.address();
        Ok(self.browser.goto(format!("{address}/#{fragment}")).await?)
    }

    /// Loads it again, as F5 does.
    ///
    /// # Errors
    /// Where it cannot be loaded.
    pub async fn reload(&self) -> Result<()> {
        Ok(self.browser.refresh().await?)
    }

    /// The element of that CSS selector, as soon as there is one.
    ///
    /// # Errors
    /// Where none appears.
    pub async fn find(&self, selector: &str) -> Result<WebElement> {
        let query = self
            .browser
            .query(By::Css(selector))
            .wait(PATIENCE, BETWEEN_LOOKS);
        query
            .first()
            .await
            .with_context(|| format!("{selector} does not appear"))
    }

    /// The text that people see in that element.
    ///
    /// # Errors
    /// Where none appears.
    pub async fn text(&self, selector: &str) -> Result<String> {
        Ok(self.find(selector).await?.text().await?)
    }

    /// Clicks on that element.
    ///
    /// # Errors
    /// Where none appears, or something lies over it.
    pub async fn click(&self, selector: &str) -> Result<()> {
        let element = self.find(selector).await?;
        element
            .click()
            .await
            .with_context(|| format!("cannot click on {selector}"))
    }

    /// Clicks inside of that element, at a place given in CSS pixels from its left upper corner.
    ///
    /// # Errors
    /// Where none appears.
    pub async fn click_at(&self, selector: &str, x_px: i64, y_px: i64) -> Result<()> {
        let element = self.find(selector).await?;
        let rect = element.rect().await?;
        let (x, y) = (rect.x as i64 + x_px, rect.y as i64 + y_px);
        Ok(self
            .browser
            .action_chain()
            .move_to(x, y)
            .click()
            .perform()
            .await?)
    }

    /// Presses keys, one after the other, wherever the focus is.
    ///
    /// # Errors
    /// Where the browser refuses.
    pub async fn press(&self, keys: impl Into<TypingData>) -> Result<()> {
        Ok(self
            .browser
            .action_chain()
            .send_keys(keys)
            .perform()
            .await?)
    }

    /// Chooses files in a file input, which may be hidden.
    ///
    /// # Errors
    /// Where there is no such input.
    pub async fn choose_files(&self, selector: &str, files: &[&Path]) -> Result<()> {
        let paths: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
        Ok(self
            .find(selector)
            .await?
            .send_keys(paths.join("\n"))
            .await?)
    }

    /// Drops a file on that element. Its bytes come from the server's recordings, by number.
    ///
    /// # Errors
    /// Where there is no such element or recording.
    pub async fn drop_recording(&self, selector: &str, number: usize, name: &str) -> Result<()> {
        self.find(selector).await?;
        let script = "
            const [selector, url, name, done] = arguments;
            (async () => {
                const response = await fetch(url);
                if (!response.ok) throw new Error(url + ': ' + response.status);
                const dataTransfer = new DataTransfer();
                dataTransfer.items.add(new File([await response.blob()], name));
                const target = document.querySelector(selector);
                for (const kind of ['dragenter', 'dragover', 'drop']) {
                    const how = { dataTransfer, bubbles: true, cancelable: true };
                    target.dispatchEvent(new DragEvent(kind, how));
                }
            })().then(() => done(null), (error) => done(String(error)));
        ";
        let url = format!("recordings/{number}/{name}");
        let given = vec![json!(selector), json!(url), json!(name)];
        let outcome = self.browser.execute_async(script, given).await?;
        match outcome.json() {
            Value::Null => Ok(()),
            error => bail!("cannot drop {name}: {error}"),
        }
    }

    /// The value of a JavaScript expression.
    ///
    /// # Errors
    /// Where it throws, or its value is of another type.
    pub async fn value<T: DeserializeOwned>(&self, expression: &str) -> Result<T> {
        let script = format!("return ({expression});");
        let value = self.browser.execute(script, Vec::new()).await;
        let value = value.with_context(|| format!("cannot evaluate {expression}"))?;
        value
            .convert()
            .with_context(|| format!("{expression} is of another type"))
    }

    /// Waits until a JavaScript expression is true.
    ///
    /// # Errors
    /// Where it never becomes so.
    pub async fn until(&self, condition: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !self.value::<bool>(&format!("Boolean({condition})")).await? {
            if Instant::now() > deadline {
                bail!("this does not become true: {condition}");
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        Ok(())
    }

    /// Waits until that element's text contains this.
    ///
    /// # Errors
    /// Where it never does; says what it is instead.
    pub async fn until_text(&self, selector: &str, contains: &str) -> Result<()> {
        let text = format!(
            "document.querySelector({})?.innerText ?? ''",
            json!(selector)
        );
        let condition = format!("({text}).includes({})", json!(contains));
        if let Err(error) = self.until(&condition).await {
            let instead: String = self.value(&text).await?;
            return Err(error.context(format!("{selector} says: {instead}")));
        }
        Ok(())
    }

    /// Any command of the DevTools protocol.
    ///
    /// # Errors
    /// Where the browser refuses it.
    pub async fn devtools(&self, command: &str, arguments: Value) -> Result<Value> {
        let answer = self.browser.cdp().send_raw(command, arguments).await;
        answer.with_context(|| format!("{command} failed"))
    }

    /// Behaves as on a machine that prefers `dark` or `light`.
    ///
    /// # Errors
    /// Where the browser refuses.
    pub async fn prefer_color_scheme(&self, scheme: &str) -> Result<()> {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.devtools("Emulation.setEmulatedMedia", json!({"features": features}))
            .await?;
        Ok(())
    }

    /// Saves a picture of the page as PNG.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub async fn screenshot(&self, to: &Path) -> Result<()> {
        Ok(self.browser.screenshot(to).await?)
    }

    /// Everything that was written to the console so far, one entry a line.
    ///
    /// # Errors
    /// Where the browser does not say.
    pub async fn console(&self) -> Result<String> {
        let lines = self.entries().await?;
        Ok(lines
            .iter()
            .map(|(level, text)| format!("{level}: {text}\n"))
            .collect())
    }

    /// The errors among it: exceptions, failed requests, breaches of the security policy.
    ///
    /// # Errors
    /// Where the browser does not say.
    pub async fn console_errors(&self) -> Result<Vec<String>> {
        let entries = self.entries().await?;
        let errors = entries.into_iter().filter(|(level, _)| level == "SEVERE");
        Ok(errors.map(|(_, text)| text).collect())
    }

    async fn entries(&self) -> Result<Vec<(String, String)>> {
        let new = self.browser.browser_log().await?;
        let mut kept = self.console.lock().expect("no holder panics");
        kept.extend(new.into_iter().map(|entry| (entry.level, entry.message)));
        Ok(kept.clone())
    }
}

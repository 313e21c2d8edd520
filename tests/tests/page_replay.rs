//! What a person does with a recording on the page: drop it, step, jump, select, share the view.

use std::path::PathBuf;

use anyhow::{Context, Result};
use tests::browser::{Page, Visit};

/// ResNet-101, then ViT-L/16: 6,126 events, two calls of `empty_cache()` that return something,
/// with what PyTorch itself said was allocated and reserved at each mark.
const SWITCH_MODELS: &str = "switch_models.default";

fn built_in(name: &str) -> PathBuf {
    let web = concat!(env!("CARGO_MANIFEST_DIR"), "/../web/assets/recordings");
    PathBuf::from(web).join(format!("{name}.vtrace"))
}

/// Waits until everything about that event is on screen.
async fn until_at(page: &Page, event: u32) -> Result<()> {
    let sentence = format!("document.querySelector('#sentence[data-at=\"{event}\"]')");
    page.until(&sentence).await?;
    page.until_text("#at-event", &format!("event {}", grouped(event)))
        .await
}

fn grouped(number: u32) -> String {
    match number / 1000 {
        0 => number.to_string(),
        thousands => format!("{thousands},{:03}", number % 1000),
    }
}

async fn shown_event(page: &Page) -> Result<u32> {
    page.value("Number(document.querySelector('#slider').value)")
        .await
}

/// Chooses what the jump buttons look for: 0 segment event, 1 `empty_cache`, 2 OOM, 3 mark.
async fn choose_jump(page: &Page, place: u32) -> Result<()> {
    let choose = format!(
        "(() => {{ const menu = document.querySelector('#jump-kind'); menu.selectedIndex = {place}; \
         menu.dispatchEvent(new Event('change', {{ bubbles: true }})); return true; }})()"
    );
    page.value::<bool>(&choose).await?;
    Ok(())
}

/// Jumps, and waits for where that leads.
async fn jump(page: &Page, button: &str) -> Result<u32> {
    let from = shown_event(page).await?;
    page.click(button).await?;
    let moved = format!("Number(document.querySelector('#slider').value) !== {from}");
    page.until(&moved).await?;
    let at = shown_event(page).await?;
    until_at(page, at).await?;
    Ok(at)
}

/// A figure of the header in GiB, and the segments that the map holds.
async fn figures(page: &Page) -> Result<(f64, u32)> {
    let cached = page.text("#figure-cached").await?;
    let cached = cached.split(' ').next().context("a figure")?.parse()?;
    let counts = page.text("#figure-counts").await?;
    let segments = counts.split(' ').next().context("a count")?;
    Ok((cached, segments.replace(',', "").parse()?))
}

#[test]
fn a_dropped_file_opens_and_steps() {
    let visit = Visit::new().with_recordings([built_in(SWITCH_MODELS)]);
    visit
        .with_fragment("lang=en")
        .run(async |page| -> Result<()> {
            page.drop_recording(".drop-zone", 0, &format!("{SWITCH_MODELS}.vtrace"))
                .await?;
            page.until_text(".tab.is-active", SWITCH_MODELS).await?;
            page.click("#first").await?;
            until_at(page, 0).await?;
            page.until_text(
                "#sentence",
                "the driver gave a new segment of 20.0 MiB for the large pool, stream 0.",
            )
            .await?;
            page.click("#step").await?;
            until_at(page, 1).await?;
            page.until_text("#sentence", "handed out").await?;
            page.press(".").await?;
            until_at(page, 2).await?;
            page.press(",").await?;
            until_at(page, 1).await?;
            page.until_text("#details", "just allocated").await?;
            Ok(())
        });
}

#[test]
fn after_empty_cache_cached_bytes_have_fallen_and_segments_are_gone() {
    let link = format!("rec={SWITCH_MODELS}&at=0&lang=en");
    Visit::new()
        .with_fragment(&link)
        .run(async |page| -> Result<()> {
            until_at(page, 0).await?;
            choose_jump(page, 1).await?;
            let first = jump(page, "#jump-next").await?;
            page.until_text("#sentence", "empty_cache()").await?;
            page.click("#back").await?;
            until_at(page, first - 1).await?;
            // 4,506,779,648 bytes reserved of which 232,811,520 were allocated, says PyTorch.
            page.until_text("#figure-reserved", "4.20 GiB").await?;
            let before = figures(page).await?;
            assert_eq!(before.0, 3.98);
            // The next mark comes when all of it has gone: 257,949,696 bytes reserved.
            choose_jump(page, 3).await?;
            jump(page, "#jump-next").await?;
            page.until_text("#figure-reserved", "0.24 GiB").await?;
            let after = figures(page).await?;
            assert_eq!(after.0, 0.02);
            assert!(after.1 < before.1, "{} of {} segments", after.1, before.1);
            Ok(())
        });
}

#[test]
fn a_click_on_a_block_shows_its_stack() {
    let link = format!("rec={SWITCH_MODELS}&at=1295&lang=en");
    Visit::new()
        .with_fragment(&link)
        .run(async |page| -> Result<()> {
            until_at(page, 1295).await?;
            page.until_text("#figure-counts", "segments").await?;
            // The largest segment lies first, below the line of its group.
            page.click_at(".map canvas", 40, 35).await?;
            page.until_text("#details", "selected").await?;
            page.until_text("#details .stack", "workloads.py").await?;
            page.until("location.hash.includes('sel=life')").await?;
            page.press(tests::browser::Key::Escape).await?;
            page.until_text("#details", "just allocated").await?;
            Ok(())
        });
}

#[test]
fn language_and_theme_switch_and_are_remembered() {
    let link = format!("rec={SWITCH_MODELS}&at=10&lang=en&theme=light");
    Visit::new()
        .with_fragment(&link)
        .run(async |page| -> Result<()> {
            until_at(page, 10).await?;
            page.click("#language").await?;
            page.until_text("#at-event", "事件 10").await?;
            page.until("document.documentElement.lang === 'zh-CN'")
                .await?;
            page.click("#theme").await?;
            page.until("document.documentElement.dataset.theme === 'dark'")
                .await?;
            // Without a word about it in the link, the next visit is as the last one.
            page.go("").await?;
            page.until("document.querySelector('.start')").await?;
            page.until("document.documentElement.lang === 'zh-CN'")
                .await?;
            page.until("document.documentElement.dataset.theme === 'dark'")
                .await?;
            Ok(())
        });
}

#[test]
fn a_link_leads_back_to_the_same_view() {
    let link = format!("rec={SWITCH_MODELS}&at=1295&lang=en&theme=dark&zoom=1000~2000");
    Visit::new()
        .with_fragment(&link)
        .run(async |page| -> Result<()> {
            until_at(page, 1295).await?;
            page.until_text("#figure-counts", "segments").await?;
            page.click_at(".map canvas", 40, 35).await?;
            page.until_text("#details", "selected").await?;
            page.click("#step").await?;
            until_at(page, 1296).await?;
            page.until("location.hash.includes('at=1296')").await?;
            let hash: String = page.value("location.hash").await?;
            for part in ["sel=life", "zoom=1000~2000", "theme=dark", "lang=en"] {
                assert!(hash.contains(part), "{part} is not in {hash}");
            }
            let details = page.text("#details").await?;
            page.reload().await?;
            until_at(page, 1296).await?;
            page.until_text("#details", "selected").await?;
            page.until_text("#details .stack", "workloads.py").await?;
            assert_eq!(page.text("#details").await?, details);
            assert_eq!(page.value::<String>("location.hash").await?, hash);
            Ok(())
        });
}

#[test]
fn no_request_leaves_after_loading() {
    let link = format!("rec={SWITCH_MODELS}&at=0&lang=en");
    Visit::new()
        .with_fragment(&link)
        .run(async |page| -> Result<()> {
            until_at(page, 0).await?;
            page.until("document.querySelector('#agreement')").await?;
            let loaded = page.server().requests().len();
            choose_jump(page, 1).await?;
            jump(page, "#jump-next").await?;
            page.click("#why").await?;
            page.until_text("#why-steps", "empty_cache()").await?;
            page.click("#language").await?;
            page.until("document.documentElement.lang === 'zh-CN'")
                .await?;
            page.click("#last").await?;
            page.until("document.querySelector('#sentence[data-at=\"6125\"]')")
                .await?;
            assert_eq!(page.server().requests().len(), loaded);
            Ok(())
        });
}

#[test]
fn a_file_that_is_no_recording_says_what_it_is() {
    let visit = Visit::new().with_fragment("lang=en");
    visit.run(async |page| -> Result<()> {
        let text = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        page.choose_files("#choose-files", &[&text]).await?;
        page.until_text("#failed", "Cargo.toml could not be opened")
            .await?;
        page.until_text("#failed", "not a memory snapshot").await?;
        page.click("#failed button").await?;
        page.until("document.querySelector('.drop-zone')").await?;
        Ok(())
    });
}

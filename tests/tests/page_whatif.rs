//! What if, on the page: other settings for the same requests.

use std::path::PathBuf;

use anyhow::Result;
use tests::browser::{Page, Visit};

fn kv_cat() -> PathBuf {
    let web = concat!(env!("CARGO_MANIFEST_DIR"), "/../web/assets/recordings");
    PathBuf::from(web).join("kv_cat.default.vtrace")
}

async fn open_what_if(page: &Page) -> Result<()> {
    page.drop_recording(".drop-zone", 0, "kv_cat.default.vtrace")
        .await?;
    page.click("#what-if").await?;
    page.until_text("#what-if-sentence", "reserved").await
}

/// How many rows the table has, and the text of one of them.
async fn row(page: &Page, number: usize) -> Result<String> {
    let row = format!("#what-if-table tbody tr:nth-child({number})");
    page.text(&row).await
}

/// The largest difference between two curves, in units of the drawing.
async fn top_of(page: &Page, id: &str) -> Result<f64> {
    let numbers = format!(
        "Math.min(...document.querySelector('{id}').getAttribute('d').split(' ')\
         .map(point => Number(point.slice(1).split(',')[1])))"
    );
    page.value(&numbers).await
}

#[test]
fn expandable_segments_draw_a_second_curve_and_a_row() {
    let visit = Visit::new().with_recordings([kv_cat()]);
    visit.run(async |page| -> Result<()> {
        open_what_if(page).await?;
        page.until_text("#what-if-sentence", "as under the recorded settings")
            .await?;
        assert!(row(page, 1).await?.contains("81.43 GiB"));
        let own = top_of(page, "#what-if-curve-own").await?;
        assert_eq!(own, top_of(page, "#what-if-curve-other").await?);

        page.click("#what-if-expandable").await?;
        page.until_text("#what-if-sentence", "less than under the recorded settings")
            .await?;
        let second = row(page, 2).await?;
        assert!(second.contains("expandable_segments:True"), "{second}");
        assert!(second.contains("2.49 GiB"), "{second}");
        assert_eq!(top_of(page, "#what-if-curve-own").await?, own);
        let other = top_of(page, "#what-if-curve-other").await?;
        assert!(other > own + 100.0, "{other} lies far below {own}");
        Ok(())
    });
}

#[test]
fn a_search_says_in_one_sentence_what_helps_in_both_languages() {
    let visit = Visit::new().with_recordings([kv_cat()]);
    visit.run(async |page| -> Result<()> {
        open_what_if(page).await?;
        page.click("#what-if-search").await?;
        page.until_text("#what-if-sentence", "instead of 81.43 GiB")
            .await?;
        let said = page.text("#what-if-sentence").await?;
        assert!(said.starts_with("expandable_segments:True"), "{said}");
        let rows: usize = page
            .value("document.querySelectorAll('#what-if-table tbody tr').length")
            .await?;
        assert!(rows > 10, "{rows}");

        page.click("#what-if-dialog header button").await?;
        page.click("#language").await?;
        page.click("#what-if").await?;
        page.until_text(
            "#what-if-sentence",
            "最多预留 81.43 GiB，与录制时的设置相同",
        )
        .await?;
        Ok(())
    });
}

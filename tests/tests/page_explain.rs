//! A pasted out-of-memory message is explained on the start page, in both languages.

use anyhow::Result;
use tests::browser::{Page, Visit};

const MESSAGE: &str = "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate \
    112.00 MiB. GPU 0 has a total capacity of 139.81 GiB of which 24.12 MiB is free. Process \
    1117159 has 127.15 GiB memory in use. Including non-PyTorch memory, this process has 12.62 GiB \
    memory in use. Of the allocated memory 12.10 GiB is allocated by PyTorch, and 7.55 MiB is \
    reserved by PyTorch but unallocated.";

const FRAGMENTED: &str = "RuntimeError: CUDA out of memory. Tried to allocate 192.00 MiB (GPU 0; \
    4.00 GiB total capacity; 3.08 GiB already allocated; 0 bytes free; 3.47 GiB reserved in total \
    by PyTorch)";

/// Pastes into the box, as a person does.
async fn paste(page: &Page, text: &str) -> Result<()> {
    let area = page.find("#diagnosis-text").await?;
    area.clear().await?;
    Ok(area.send_keys(text).await?)
}

/// The words of the advice in this list.
async fn advice(page: &Page, list: &str) -> Result<Vec<String>> {
    let script = format!(
        "[...document.querySelectorAll('.diagnosis-advice.{list} li')].map(e => e.dataset.advice)"
    );
    page.value(&script).await
}

#[test]
fn a_pasted_message_gets_its_figures_its_case_and_advice() {
    Visit::new().run(async |page| -> Result<()> {
        paste(page, MESSAGE).await?;
        page.find(".diagnosis-message[data-case='2']").await?;
        page.until_text(".diagnosis-verdict", "real need").await?;
        page.until_text(
            ".diagnosis-verdict",
            "Another process holds most of the card.",
        )
        .await?;
        page.until_text(".diagnosis-message h3", "rank 1").await?;
        for part in ["112.00 MiB", "139.81 GiB", "process 1117159", "127.15 GiB"] {
            page.until_text(".diagnosis-figures", part).await?;
        }
        assert_eq!(
            advice(page, "helps").await?,
            ["smaller_request", "fewer_live_tensors", "other_process"]
        );
        let vain = advice(page, "does-not-help").await?;
        assert!(vain.contains(&"expandable_segments".to_owned()), "{vain:?}");
        // The bar is to scale: the other process holds 91 % of the card.
        let share: f64 = page
            .value(
                "document.querySelector('.card-row .is-others').getBoundingClientRect().width / \
                 document.querySelector('.card-bar .card-row').clientWidth",
            )
            .await?;
        assert!((0.89..0.92).contains(&share), "{share}");
        let height: f64 = page
            .value("document.querySelector('.card-row .is-others').getBoundingClientRect().height")
            .await?;
        assert!(height > 20.0, "{height}");
        Ok(())
    });
}

#[test]
fn the_explanation_follows_the_text_and_the_language() {
    Visit::new().run(async |page| -> Result<()> {
        page.go("lang=zh-CN").await?;
        paste(page, "ValueError: shapes do not match").await?;
        page.until_text("#diagnosis-found", "没有 PyTorch 的显存不足报错")
            .await?;
        paste(page, FRAGMENTED).await?;
        page.find(".diagnosis-message[data-case='3']").await?;
        page.until_text(".diagnosis-verdict", "可能是碎片").await?;
        page.until_text(".diagnosis-advice.does-not-help", "empty_cache()")
            .await?;
        assert!(
            advice(page, "helps")
                .await?
                .contains(&"expandable_segments".to_owned())
        );
        Ok(())
    });
}

//! The page opens: three requests, and nothing else.

use anyhow::Result;
use tests::browser::Visit;

#[test]
fn the_start_page_says_what_this_is() {
    Visit::new().run(async |page| -> Result<()> {
        page.until_text("body", "CUDA").await?;
        assert_eq!(page.value::<String>("document.title").await?, "vramscope");
        let mut requests = page.server().requests();
        requests.sort();
        requests.dedup();
        for file in ["/", "/vramscope.css", "/vramscope.js", "/vramscope_bg.wasm"] {
            assert!(
                requests.contains(&format!("GET {file}")),
                "{file} is not among {requests:?}"
            );
        }
        Ok(())
    });
}

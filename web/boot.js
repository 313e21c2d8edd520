// Starts the page, and the worker behind it: this script is both. `cargo xtask page` puts the
// wasm-bindgen glue (target no-modules) in front of it.
(() => {
  "use strict";
  const isWorker = typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope;

  if (isWorker) {
    // The first message is the compiled module. Rust sets its own handler while it starts, which
    // is before the next message is taken.
    self.onmessage = (event) => wasm_bindgen.initSync({ module: event.data });
    return;
  }

  const script = document.currentScript;
  const here = script.src || URL.createObjectURL(new Blob([script.textContent]));
  const wasmUrl = script.src && script.src.replace(/\.js$/, "_bg.wasm");

  // One worker for each recording; they share the page's compiled code.
  self.startVramscopeWorker = () => {
    const worker = new Worker(here);
    worker.postMessage(self.vramscopeModule);
    return worker;
  };

  const compile = async () => {
    const inside = document.getElementById("wasm");
    if (inside) {
      const bytes = Uint8Array.from(atob(inside.textContent), (letter) => letter.charCodeAt(0));
      return WebAssembly.compile(bytes);
    }
    const response = await fetch(wasmUrl);
    if (!response.ok) throw new Error(`${wasmUrl}: ${response.status} ${response.statusText}`);
    // A host that serves wasm under another type cannot be compiled from while it streams.
    return (response.headers.get("content-type") || "").startsWith("application/wasm")
      ? WebAssembly.compileStreaming(response)
      : WebAssembly.compile(await response.arrayBuffer());
  };

  compile()
    .then((module) => {
      self.vramscopeModule = module;
      return wasm_bindgen({ module_or_path: module });
    })
    .catch((error) => {
      const root = document.getElementById("app");
      root.textContent = `vramscope could not start: ${error.message || error}`;
      root.dataset.state = "failed";
    });
})();

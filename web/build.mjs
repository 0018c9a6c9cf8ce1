// Bundles web/src into one HTML file, src/report/page.html, which is checked in: a C++ build needs no node.
// `node build.mjs --check` builds and compares instead of writing.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "src", "report", "page.html");

const bundle = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  outdir: "out",
  write: false,
});
const output = (suffix) => bundle.outputFiles.find((file) => file.path.endsWith(suffix)).text.trim();
const script = output(".js").replaceAll("</script", "<\\/script");
const style = output(".css");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// Nothing but this script and this style may run or load, whatever text a log brings in.
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "img-src data:",
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>whystop</title>
<style>${style}</style>
</head>
<body>
<main id="page"><noscript>This page draws its charts with a script that is part of the file. In the terminal: whystop why</noscript></main>
<script type="application/json" id="data">{"place":"of the data"}</script>
<script>${script}</script>
</body>
</html>
`;

if (page.includes(')file"')) {
  throw new Error("the page holds the delimiter that tools/embed_text.py uses");
}
if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== page) {
    console.error("src/report/page.html is not what web/ builds: run 'npm run build' in web/");
    process.exit(1);
  }
} else {
  writeFileSync(target, page);
  console.log(`src/report/page.html: ${page.length} bytes`);
}

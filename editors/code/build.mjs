// Bundles the extension, the script of the trace view, and the modules that the tests import.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, minify: true, logLevel: "warning" };
const [extension] = await Promise.all([
  build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    platform: "node",
    target: "node20",
    format: "cjs",
    external: ["vscode"],
    metafile: true,
  }),
  build({ ...common, entryPoints: ["src/view.ts"], outfile: "dist/view.js", target: "es2022", format: "iife" }),
  build({
    ...common,
    minify: false,
    entryPoints: ["src/trace.ts", "src/program.ts"],
    outdir: "build",
    outExtension: { ".js": ".mjs" },
    platform: "node",
    target: "node20",
    format: "esm",
  }),
]);

// The licences of what the bundle holds go with it.
const folders = new Set(
  Object.keys(extension.metafile.inputs).flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []),
);
const texts = [...folders].sort().map((folder) => {
  const licence = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  const text = licence ? readFileSync(`${folder}/${licence}`, "utf8") : JSON.parse(readFileSync(`${folder}/package.json`)).license;
  return `${folder.replace(/.*node_modules\//, "")}\n\n${text}\n`;
});
writeFileSync("dist/licences.txt", texts.join("\n"));

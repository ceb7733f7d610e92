import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

const page = process.env.PAGE ?? "report";

// PAGE names the page. The report is one file without references: it must work from a disk, and without a network. What a server gives
// is one file of each kind, so that its policy can forbid scripts within the page.
export default defineConfig({
  base: "./",
  plugins: page === "report" ? [viteSingleFile({ removeViteModuleLoader: true })] : [],
  build: {
    outDir: "dist",
    emptyOutDir: false,
    // An editor is as large as it is; it comes from this machine.
    chunkSizeWarningLimit: 1000,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: `${page}.html`,
      output: { entryFileNames: `${page}.js`, assetFileNames: `${page}[extname]` },
    },
  },
  test: { environment: "happy-dom", include: ["test/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);

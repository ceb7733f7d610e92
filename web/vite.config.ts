import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// Each page is one file without references: it must work from a disk, and without a network. PAGE names it.
export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { outDir: "dist", emptyOutDir: false, rollupOptions: { input: `${process.env.PAGE ?? "report"}.html` } },
  test: { environment: "happy-dom", include: ["test/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);

import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// One file without references: the page must work from a disk, and without a network.
export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { outDir: "dist", emptyOutDir: true, rollupOptions: { input: "report.html" } },
  test: { environment: "happy-dom", include: ["test/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);

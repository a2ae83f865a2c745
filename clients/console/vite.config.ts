import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// biome-ignore lint/style/noDefaultExport: Vite reads it so.
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // The façade knows the path, and writes it into the page.
  base: "./",
  plugins: [react()],
  resolve: { alias: { "#api": fileURLToPath(new URL("./gen", import.meta.url)) } },
  logLevel: "warn",
  build: {
    outDir: fileURLToPath(new URL("../../dist/console", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    // The policy lets no font or picture come from inside another file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
  },
});

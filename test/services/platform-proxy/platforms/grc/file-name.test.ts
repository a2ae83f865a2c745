import { expect, test } from "vitest";
import { fileNameOf } from "../../../../../services/platform-proxy/platforms/grc/upstream.js";

test.each([
  [null, undefined],
  ["", undefined],
  ["/media/evidence-revisions/report.pdf", "report.pdf"],
  ["/media/%C3%9Cbersicht_2026_final.txt", "Übersicht_2026_final.txt"],
  // A store of objects signs its addresses: who has the rest may read the file.
  ["https://store.example/bucket/report.pdf?X-Amz-Signature=5e0f&X-Amz-Date=2026", "report.pdf"],
  ["/media/100%25%.txt", "100%25%.txt"],
])("the file kept at %j is called %j", (address, name) => {
  expect(fileNameOf(address) || undefined).toBe(name);
});

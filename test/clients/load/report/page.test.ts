import { expect, test } from "vitest";
import { readCommandLine } from "../../../../clients/load/command-line.js";
import { Recorder } from "../../../../clients/load/recorder.js";
import { reportOf } from "../../../../clients/load/report/make-report.js";
import { pageOf } from "../../../../clients/load/report/page.js";

function page(): string {
  const operation = { kind: "call", era: "2026-07-28", message: { headers: {}, bodyOf: String } } as const;
  const recorder = new Recorder([operation]);
  recorder.take(0);
  const end = { failure: "http_500", detail: "</script><script>alert(1)</script>", bytes: 1, isStream: false };
  recorder.finish(operation, { latencyMs: 3, wireMs: 3, ...end });
  recorder.endInterval(1, { inFlight: 0, waiting: 0 });
  const { scenario } = readCommandLine(["--url", "http://127.0.0.1/mcp", "--mix", "call"], {})!;
  const ran = { elapsedMs: 1_000, cpuMs: 10, isInterrupted: false };
  return pageOf(reportOf({ scenario, recorder, ran, server: "<b>bold</b>", opened: 1, scrub: (text) => text }));
}

test("the page loads nothing and has its plots, figures and sentences", () => {
  const html = page();
  expect(html).toContain("default-src 'none'");
  expect(html).not.toMatch(/<(?:script|link|img|iframe)[^>]*\s(?:src|href)=/);
  expect(html).not.toMatch(/@import|url\(/);
  for (const id of ["curve", "rate", "latency", "queue"]) expect(html).toContain(`id="${id}"`);
  expect(html).toContain("1 of 1 requests failed (http_500 1)");
});

test("what a server says is text", () => {
  const html = page();
  expect(html).not.toContain("<script>alert");
  expect(html).not.toContain("<b>bold");
  expect(html).toContain("&lt;b&gt;bold");
});

test("the data of the plots is JSON", () => {
  const data = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(page())?.[1] ?? "";
  expect(JSON.parse(data)).toMatchObject({
    points: [{ second: 1, due: 1, failed: 1 }],
    curve: { series: expect.any(Array) },
  });
});

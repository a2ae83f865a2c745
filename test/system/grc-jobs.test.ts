import { afterAll, beforeAll, expect, test } from "vitest";
import { type Product, startProduct } from "../truth/frame/product.js";
import { Transcript } from "../truth/frame/transcript.js";
import { JOBS } from "../truth/grc/jobs.js";

// The jobs of grc over MCP, on the built-in platform, as people with just the rights they need.

let product: Product;
beforeAll(async () => {
  const emails = { assessor: "assessor@sallyport.example", pricer: "pricer@sallyport.example" };
  product = await startProduct("grc", { SANDBOX: "on" }, emails, true);
});
afterAll(() => product?.stop());

test.each(JOBS)("$title", { timeout: 30_000 }, async ({ title, run, as }) => {
  const job = new Transcript(title, product.people[as]!);
  await run(job, { audit: "ISO 27001 internal", control: "Offline backups", run: "by a test" });
  job.write(`grc ${title}`);
  expect(job.count).toBeLessThan(20);
  expect(job.bytes).toBeLessThan(60_000);
});

import { expect, test } from "vitest";
import { pageWords } from "../../../../services/core-objects/runs/apart/told-error.js";

test("a page is told by its title, or by its words without tags", () => {
  expect(pageWords("<html><head><title>502 Bad\n Gateway</title></head><body>x</body>")).toBe("502 Bad Gateway");
  expect(pageWords("<h1>No</h1> <p class='a'>upstream</p>")).toBe("No upstream");
});

test("a page of tags that never end takes the time of its length", () => {
  for (const part of ["<", "<a ", "<title", "<title>"]) {
    const page = part.repeat(65_536);
    // The least of some: threads of this process collect and compile meanwhile.
    expect(Math.min(...[1, 2, 3, 4, 5].map(() => cpuMsOf(page))), part).toBeLessThan(50);
  }
});

function cpuMsOf(page: string): number {
  const before = process.cpuUsage();
  pageWords(page);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

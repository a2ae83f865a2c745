import { expect, test } from "vitest";
import { Shapes, type Step } from "../../../../../services/shared/store/embedded/shapes.js";

test("of an object of thousands of fields, whose names may be data, only the first hundred are remembered", () => {
  const shapes = new Shapes();
  let step: Step | undefined = shapes.first;
  let remembered = 0;
  for (let i = 0; i < 5_000 && step !== undefined; i++) {
    const name = Buffer.from(`field-${i}`);
    step = shapes.next(step, name, 0, name.length);
    if (step !== undefined) remembered++;
  }
  expect(remembered).toBe(100);
});

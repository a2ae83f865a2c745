import type { Question } from "../frame/questions.js";
import { planJobs } from "./asked-plans.js";
import { resultJobs } from "./asked-results.js";
import type { Stage } from "./stage.js";

/** The jobs of asked.md, each found through the tools alone and computed from the platform's own data. */
export const jobsOf = (run: string): readonly Question<Stage>[] =>
  [...resultJobs(run), ...planJobs(run)].toSorted(
    (a, b) => Number.parseInt(a.words, 10) - Number.parseInt(b.words, 10),
  );

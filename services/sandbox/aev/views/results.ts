import type { Expectation } from "../world.js";

// Expectations summed up by type, as the platform does.

type State = "SUCCESS" | "PENDING" | "PARTIAL" | "FAILED";

const LABELS: Readonly<Record<Expectation["type"], Readonly<Record<State, string>>>> = {
  PREVENTION: {
    SUCCESS: "Prevented",
    PENDING: "Pending",
    PARTIAL: "Partially Prevented",
    FAILED: "Not Prevented",
  },
  DETECTION: { SUCCESS: "Detected", PENDING: "Pending", PARTIAL: "Partially Detected", FAILED: "Not Detected" },
  VULNERABILITY: {
    SUCCESS: "Not vulnerable",
    PENDING: "Pending",
    PARTIAL: "Partially vulnerable",
    FAILED: "Vulnerable",
  },
  HUMAN_RESPONSE: { SUCCESS: "Successful", PENDING: "Pending", PARTIAL: "Partial", FAILED: "Failed" },
};

const STATES: readonly State[] = ["SUCCESS", "PENDING", "PARTIAL", "FAILED"];

/** One entry for each type that is expected; none where nothing is. */
export function resultsOf(expectations: readonly Expectation[], now: number): unknown[] {
  return (Object.keys(LABELS) as Expectation["type"][]).flatMap((type) => {
    const states = expectations
      .filter((expectation) => expectation.type === type && expectation.agent === undefined)
      .map((expectation): State => (expectation.decidedAt <= now ? expectation.verdict : "PENDING"));
    if (states.length === 0) return [];
    const distribution = STATES.map((id) => ({
      id,
      label: LABELS[type][id],
      value: states.filter((state) => state === id).length,
    }));
    return [{ type, avgResult: averageOf(states), distribution }];
  });
}

function averageOf(states: readonly State[]): State {
  if (states.includes("PENDING")) return "PENDING";
  const [first = "PENDING"] = states;
  return states.every((state) => state === first) ? first : "PARTIAL";
}

import type { Json } from "../world.js";

/** A step's name, and its colour where it has one. */
type Step = readonly [name: string, hexcolor?: string];

/** A risk matrix: the level for each probability and impact, as indexes. */
export interface Matrix {
  readonly probability: readonly Step[];
  readonly impact: readonly Step[];
  readonly risk: readonly Step[];
  /** By probability, then by impact. */
  readonly grid: readonly (readonly number[])[];
  /** Those that its steps are translated to. */
  readonly languages: readonly string[];
  /** The colour of what is not rated, by the scales that have one for it. */
  readonly unrated: Readonly<Partial<Record<"probability" | "impact" | "risk", string>>>;
}

/** The matrix of risk assessments. */
export const RISK_MATRIX: Matrix = {
  probability: [["1 - unlikely"], ["2 - rather unlikely"], ["3 - likely"], ["4 - very likely"], ["5 - almost certain"]],
  impact: [["1 - minor"], ["2 - significant"], ["3 - serious"], ["4 - critical"], ["5 - catastrophic"]],
  risk: [
    ["1 - very low", "#00B050"],
    ["2 - low", "#92D050"],
    ["3 - medium", "#FFA600"],
    ["4 - high", "#FF0000"],
    ["5 - very high", "#C00000"],
  ],
  grid: [
    [0, 0, 1, 1, 2],
    [0, 1, 1, 2, 2],
    [1, 1, 2, 2, 3],
    [1, 2, 2, 3, 4],
    [2, 2, 3, 4, 4],
  ],
  languages: ["fr", "it", "de", "es"],
  unrated: { risk: "#A9A9A9" },
};

/** The matrix of EBIOS RM studies. */
export const EBIOS_MATRIX: Matrix = {
  probability: [
    ["Rather unlikely", "#BBF7D0"],
    ["Likely", "#BEF264"],
    ["Very likely", "#DCCC77"],
    ["Nearly certain", "#E6686D"],
  ],
  impact: [
    ["Minor", "#BBF7D0"],
    ["Significant", "#BEF264"],
    ["Serious", "#DCCC77"],
    ["Critical", "#EE7B86"],
  ],
  risk: [
    ["Low", "#BBF7D0"],
    ["Medium", "#BEF264"],
    ["High", "#E6686D"],
  ],
  grid: [
    [0, 0, 1, 1],
    [0, 1, 1, 2],
    [0, 1, 2, 2],
    [1, 2, 2, 2],
  ],
  languages: ["fr", "de"],
  unrated: { probability: "#f9fafb", impact: "#f9fafb" },
};

/** A step as answers show it; a name alone where nothing is rated. @throws RangeError for a step outside the matrix. */
export function stepOf(matrix: Matrix, scale: "probability" | "impact" | "risk", value: unknown): Json {
  const step = typeof value === "number" ? matrix[scale][value] : undefined;
  if (step === undefined && Number(value ?? -1) >= 0) throw new RangeError("list index out of range");
  if (step === undefined) {
    const unrated = { abbreviation: "--", name: "--", description: "not rated", value: -1 };
    const colour = matrix.unrated[scale];
    return colour === undefined ? unrated : { ...unrated, hexcolor: colour };
  }
  const [name, hexcolor] = step;
  return {
    id: value as number,
    abbreviation: String((value as number) + 1),
    name,
    description: name,
    translations: Object.fromEntries(matrix.languages.map((one) => [one, { name, description: name }])),
    ...(hexcolor !== undefined && { hexcolor }),
    annotation: null,
    value: value as number,
  };
}

/** The index of a level; -1 where nothing is rated. @throws RangeError for a step outside the matrix. */
export function levelOf(matrix: Matrix, probability: unknown, impact: unknown): number {
  if (Number(probability) < 0 || Number(impact) < 0) return -1;
  const row = matrix.grid[Number(probability)];
  if (row === undefined || row[Number(impact)] === undefined) throw new RangeError("list index out of range");
  return row[Number(impact)]!;
}

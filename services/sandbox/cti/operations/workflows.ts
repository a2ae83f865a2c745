import { v5 as uuidv5 } from "uuid";

/** A state of a workflow, as the API tells it. */
export interface Status {
  readonly id: string;
  readonly type: string;
  readonly order: number;
  readonly template: { readonly id: string; readonly name: string };
}

/** The workflow that the platform is delivered with: reports have one, and nothing else. */
const STATUSES: readonly Status[] = ["NEW", "IN_PROGRESS", "ANALYZED", "CLOSED"].map((name, at) => ({
  id: uuidv5(`status Report ${name}`, uuidv5.URL),
  type: "Report",
  order: at + 1,
  template: { id: uuidv5(`status template ${name}`, uuidv5.URL), name },
}));

/** The states of a type, in the order of its workflow. */
export const statusesOf = (type: string): readonly Status[] => STATUSES.filter((status) => status.type === type);

/** A state by its id. */
export const statusOf = (id: unknown): Status | undefined => STATUSES.find((status) => status.id === id);

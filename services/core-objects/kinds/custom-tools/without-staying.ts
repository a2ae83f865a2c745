import type { Passed, Passing } from "../../objects/leaving.js";
import type { CustomToolRecord } from "./record.js";

/**
 * A custom tool as its new owner gets it. Who uses a tool sends the variables of its headers without seeing them:
 * secret ones that stay with the person who left are taken out of it.
 */
export async function withoutStaying(
  { headers = [] }: CustomToolRecord,
  passing: Passing,
): Promise<Passed<CustomToolRecord> | undefined> {
  const ids = headers.map(({ variable }) => variable).filter((id) => id !== "");
  const staying = await passing.staying("variable", ids);
  if (staying.size === 0) return undefined;
  const without = headers.map((header) => (staying.has(header.variable) ? { ...header, variable: "" } : header));
  const names = headers.filter(({ variable }) => staying.has(variable)).map(({ name }) => name);
  return {
    changes: { headers: without, enabled: false },
    notes: [
      `it no longer sends the secret variables of ${names.join(", ")}, and it is disabled: set these headers with put_headers and enable it with update_custom_tool`,
    ],
  };
}

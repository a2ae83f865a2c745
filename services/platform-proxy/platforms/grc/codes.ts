import type { DescEnum } from "@bufbuild/protobuf";
import { wordOf } from "../../../shared/tools/enums.js";

// The platform takes codes and shows labels. The words of our enums are the
// codes, save where a table here says otherwise.

/** The platform's code for an enum value. */
export function codeOf(desc: DescEnum, value: number, codes: Readonly<Record<string, string>> = {}): string {
  const word = wordOf(desc.value[value]!) ?? "";
  return codes[word] ?? word;
}

/**
 * The enum value for what the platform shows, a code or an English label such
 * as "In review"; 0 for none and for one that is not known.
 */
export function enumOf(desc: DescEnum, shown: string | null | undefined): number {
  const word = (shown ?? "").toLowerCase().replace(/[ -]/g, "_");
  return desc.values.find((value) => wordOf(value) === word)?.number ?? 0;
}

/** Sizes of an effort, by the words of ControlEffort. */
export const EFFORTS = { extra_small: "XS", small: "S", medium: "M", large: "L", extra_large: "XL" };

const IMPACTS = ["very low", "low", "medium", "high", "very high"];

/** 1 to 5 for the label of an impact; undefined where none is set. */
export function impactOf(label: string | null): number | undefined {
  const index = IMPACTS.indexOf((label ?? "").toLowerCase());
  return index < 0 ? undefined : index + 1;
}

/** 1 to 4 for the label of a priority, such as "P1"; undefined where none is set. */
export function priorityOf(label: string | null): number | undefined {
  const digit = /^P([1-4])$/.exec(label ?? "")?.[1];
  return digit === undefined ? undefined : Number(digit);
}

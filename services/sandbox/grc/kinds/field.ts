import { parsedUrl } from "../../../shared/parsed-url.js";
import type { Json } from "../world.js";
import type { Choices } from "./choices.js";

/** The body of a write. */
export type Body = Readonly<Record<string, Json | undefined>>;

/** A field that can be written, and what is checked of it. */
export type Field =
  | {
      readonly kind: "text" | "date" | "url" | "boolean" | "json";
      readonly required?: boolean;
      readonly initial?: Json;
    }
  | { readonly kind: "integer"; readonly min?: number; readonly max?: number; readonly initial?: Json }
  | { readonly kind: "choice"; readonly choices: Choices; readonly numeric?: boolean; readonly initial?: Json }
  | { readonly kind: "one"; readonly path: string; readonly required?: boolean; readonly initial?: Json }
  | { readonly kind: "many"; readonly path: string; readonly initial?: Json };

/** Whether a text is an address as the platform's fields take one. */
export function isWebAddress(text: string): boolean {
  return /^(https?|ftps?):$/.test(parsedUrl(text)?.protocol ?? "");
}

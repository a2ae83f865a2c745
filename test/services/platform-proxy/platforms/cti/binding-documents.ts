import { readdirSync } from "node:fs";
import type { Document } from "../../../../../services/platform-proxy/document.js";

const FOLDER = new URL("../../../../../services/platform-proxy/platforms/cti/", import.meta.url);

const isDocument = (value: unknown): value is Document =>
  typeof value === "object" && value !== null && "text" in value && "writes" in value;

/** Every document that the modules of the platform export, alone or in a map, by module and name. */
export const documents: readonly (readonly [name: string, document: string])[] = (
  await Promise.all(
    readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map(async (file) => {
        const module = (await import(new URL(file, FOLDER).href)) as Record<string, unknown>;
        return Object.entries(module).flatMap(([name, value]) => {
          const entries = value instanceof Map ? [...value] : [["", value]];
          return entries
            .filter(([, one]) => isDocument(one))
            .map(([key, one]) => [`${file} ${name} ${key}`.trim(), (one as Document).text] as const);
        });
      }),
  )
).flat();

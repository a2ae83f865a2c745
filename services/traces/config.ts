import type { Option } from "../shared/config.js";

/** What can be set about traces. */
export const tracesOptions = {
  traceRetentionDays: {
    doc: "Days that traces are kept after they arrive.",
    parse(value) {
      const days = Number(value);
      if (!Number.isInteger(days) || days < 1 || days > 3650) throw new Error("must be a whole number from 1 to 3650");
      return days;
    },
    fallback: 30,
  },
} satisfies Record<string, Option<unknown>>;

import { UsageService } from "#proto/core/v1/usage_service_pb.js";
import { clientOf } from "../client.js";
import type { Verb } from "../command.js";
import { UsageError } from "../failures.js";

/** Shows what is stored, and how much more may be. */
export const usage: readonly Verb[] = [
  {
    verb: "show",
    doc: "Show your storage in use and its limits. Administrators can also see other users and the deployment.",
    flags: {
      user: { doc: "The usage of the user with this id; company shows that of company-managed objects." },
      deployment: { doc: "The usage of the whole deployment.", isSwitch: true },
    },
    columns: ["name", "used", "limit", "left", "unit"],
    async run(session, { flags }) {
      if (flags.user !== undefined && flags.deployment !== undefined)
        throw new UsageError("give either --user or --deployment");
      const request = { deployment: flags.deployment !== undefined, owner: flags.user ?? "" };
      const { usage: rows, notes } = await clientOf(session, UsageService).getUsage(request);
      return {
        usage: rows.map(({ name, used, limit, unit }) => ({
          ...{ name, used, unit },
          ...(limit !== undefined && { limit, left: Math.max(0, limit - used) }),
        })),
        ...(notes.length > 0 && { more: notes.join("; ") }),
      };
    },
  },
];

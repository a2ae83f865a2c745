import type { Verb } from "../command.js";
import { checkService, type Finding } from "../doctor.js";
import { offline } from "../offline.js";

/** Says what is wrong with an installation, and what to do about it. */
export const doctor: readonly Verb[] = [
  {
    verb: "run",
    isDefault: true,
    doc: "Check settings, disk, clocks, platforms, published keys and switches; exit code 1 if something is wrong.",
    flags: { remote: { doc: "Skip settings, data and disk: the service runs on another machine.", isSwitch: true } },
    columns: ["state", "check", "found", "do"],
    async run(session, { flags }) {
      const here = flags.remote === undefined ? (offline(["check"], session.dataDir) as Finding[]) : [];
      const findings = [...here, ...(await checkService(session))];
      const count = (state: Finding["state"]): number => findings.filter((one) => one.state === state).length;
      return { findings, wrong: count("wrong"), warnings: count("warn") };
    },
    hasFailed: (answer) => (answer as { wrong: number }).wrong > 0,
    isUncut: true,
  },
];

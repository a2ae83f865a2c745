import { SettingService, type Settings } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Command } from "../command.js";
import { UsageError } from "../usage-error.js";

/** Turns switches on and off. */
export const settings: readonly Command[] = [
  {
    noun: "settings",
    verb: "get",
    doc: "Show the switches.",
    positionals: [],
    flags: {},
    async run(session) {
      return toJson((await session.client(SettingService).getSettings({})).settings);
    },
  },
  {
    noun: "settings",
    verb: "set",
    doc: "Turn a switch on or off, in every process before this returns.",
    positionals: ["platform-servers|core|ai", "on|off"],
    flags: {},
    async run(session, { args }) {
      const name = args["platform-servers|core|ai"];
      const state = args["on|off"];
      if (state !== "on" && state !== "off") throw new UsageError("a switch is set on or off");
      const on = state === "on";
      const client = session.client(SettingService);
      switch (name) {
        case "platform-servers":
          return toJson((await client.updateSettings({ platformServers: on })).settings);
        case "core":
          return toJson((await client.updateSettings({ core: on })).settings);
        case "ai":
          return toJson((await client.updateSettings({ ai: on })).settings);
        default:
          throw new UsageError("the switches are platform-servers, core and ai");
      }
    },
  },
];

function toJson(found: Settings | undefined): object {
  const word = (on: boolean | undefined): string => (on ? "on" : "off");
  return { platform_servers: word(found?.platformServers), core: word(found?.core), ai: word(found?.ai) };
}

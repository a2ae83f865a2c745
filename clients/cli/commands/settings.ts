import { SettingService, type Settings } from "#proto/catalogue/v1/setting_service_pb.js";
import { clientOf } from "../client.js";
import type { Verb } from "../command.js";

/** Turns switches on and off. */
export const settings: readonly Verb[] = [
  {
    verb: "get",
    doc: "Show the switches.",
    async run(session) {
      return toJson((await clientOf(session, SettingService).getSettings({})).settings);
    },
  },
  {
    verb: "set",
    doc: "Turn a switch on or off. Every process applies it before this returns.",
    args: [
      { name: "SWITCH", doc: "The switch.", choices: ["platform-servers", "core", "ai"] },
      { name: "STATE", doc: "On or off.", choices: ["on", "off"] },
    ],
    async run(session, { args }) {
      const name = args.SWITCH === "platform-servers" ? "platformServers" : (args.SWITCH as "core" | "ai");
      const on = args.STATE === "on";
      return toJson((await clientOf(session, SettingService).updateSettings({ [name]: on })).settings);
    },
  },
];

function toJson(found: Settings | undefined): object {
  const word = (on: boolean | undefined): string => (on ? "on" : "off");
  return { platform_servers: word(found?.platformServers), core: word(found?.core), ai: word(found?.ai) };
}

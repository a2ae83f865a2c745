import type { Note } from "./client.js";

// Notes that several clients share.

/** Of programs with windows: they do not have the variables of a shell. */
export const STARTED_FROM_A_MENU: Note = {
  about: "key",
  text: "A program that you start from the dock or a menu does not have the variables of your shell. Set the variable for the session (macOS: launchctl setenv; Windows: a user variable; Linux: environment.d), then restart the program.",
};

/** Of clients that read the agent plugin. @param install how. @param ownKey how a key gets beside it. */
export function readsAgentPlugin(client: string, install: string, ownKey: string): Note {
  return {
    about: "package",
    text: `${client} reads the agent plugin: if you install that package, you need no fragment. ${install} The package carries no key: ${client} signs you in. ${ownKey}`,
  };
}

/** How a key is used beside the plugin in an editor. */
export const UNDER_ANOTHER_NAME =
  "To use a key, add this fragment under another name and switch off the server of the package.";

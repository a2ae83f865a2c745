import { expect, test } from "vitest";
import { readPrefixes } from "../../../services/launcher/prefix-setting.js";

test.each([
  "",
  "[]",
  "null",
  '{"m": {}}',
  '{"m": {"query": 1, "passage": ""}}',
  '{"m": {"query": "", "passage": "", "x": ""}}',
])("%s is no setting", (text) => expect(() => readPrefixes(text)).toThrow("must be JSON such as"));

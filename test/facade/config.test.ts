import { expect, test } from "vitest";
import { FACADE_OPTIONS } from "../../facade/config.js";
import { type ConfigError, readConfig } from "../../services/shared/process/config.js";

test("the variable of the client configurations is a name, by flag or by environment", () => {
  expect(readConfig(FACADE_OPTIONS, [], {}).apiKeyVariable).toBe("SERVICE_API_KEY");
  expect(readConfig(FACADE_OPTIONS, [], { API_KEY_VARIABLE: "OUR_KEY" }).apiKeyVariable).toBe("OUR_KEY");
  expect(readConfig(FACADE_OPTIONS, ["--api-key-variable=_k2"], { API_KEY_VARIABLE: "A" }).apiKeyVariable).toBe("_k2");
});

test.each(["1KEY", "OUR-KEY", "OUR KEY", "$KEY", "KLÉ", "A\n", 'A"'])(
  "%j is no name of a variable, and is reported with every other wrong setting",
  (name) => {
    const wrong = { API_KEY_VARIABLE: name, PORT: "none", BASE_URL: "https://a.example/?b" };
    let problems: readonly string[] = [];
    try {
      readConfig(FACADE_OPTIONS, [], wrong);
    } catch (error) {
      problems = (error as ConfigError).problems;
    }
    expect(problems.map((problem) => problem.split(" ", 1)[0]).sort()).toEqual([
      "--api-key-variable",
      "--base-url",
      "--port",
    ]);
    expect(problems.join()).toContain("(or API_KEY_VARIABLE) must be the name of an environment variable");
  },
);

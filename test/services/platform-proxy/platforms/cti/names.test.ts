import { expect, test } from "vitest";
import type { Platform } from "../../../../../services/platform-proxy/platform.js";
import type { Me } from "../../../../../services/platform-proxy/platforms/cti/adapter.js";
import { markingsOf } from "../../../../../services/platform-proxy/platforms/cti/names.js";
import { refusal } from "../../../../support/platforms/refusal.js";

const green = {
  id: "green",
  standard_id: "marking-definition--green",
  definition: "TLP:GREEN",
  definition_type: "TLP",
};

/** A platform that remembers nobody to be cleared, and knows better when it is asked anew. */
function platformThat(knows: readonly (typeof green)[]): { readonly platform: Platform; readonly asked: string[] } {
  const asked: string[] = [];
  const answer = (how: string, allowed: readonly (typeof green)[]) => async () => {
    asked.push(how);
    return { allowed_marking: allowed } as unknown as Me;
  };
  return { platform: { me: answer("kept", []), meAnew: answer("anew", knows) } as unknown as Platform, asked };
}

test("a marking that is not remembered is asked for anew, once", async () => {
  const { platform, asked } = platformThat([green]);
  expect(await markingsOf(platform, ["tlp:green"], "markings")).toEqual([green]);
  expect(asked).toEqual(["kept", "anew"]);
});

test("a marking that the platform does not give either is refused", async () => {
  const { platform, asked } = platformThat([]);
  expect((await refusal(markingsOf(platform, ["tlp:green"], "markings"))).rawMessage).toContain("not cleared for it");
  expect(asked).toEqual(["kept", "anew"]);
});

test("a marking to narrow a list by that is not known is refused with those that there are", async () => {
  const { platform } = platformThat([green]);
  const asked = markingsOf(platform, ["TLP:GREEN", "TLP:RED", "PAP:RED"], "filter.markings");
  expect((await refusal(asked)).rawMessage).toBe(
    "filter.markings: TLP:RED, PAP:RED do not exist or you are not cleared for them; the markings that you may see are TLP:GREEN",
  );
});

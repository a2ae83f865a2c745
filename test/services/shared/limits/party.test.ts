import { expect, test } from "vitest";
import { partyOf } from "../../../../services/shared/limits/party.js";

test.each([
  ["127.0.0.1", "127.0.0.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  // As µWebSockets.js writes them.
  ["0000:0000:0000:0000:0000:ffff:c000:0201", "192.0.2.1"],
  ["2001:0db8:0001:0002:0003:0004:0005:0006", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::6", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["", ""],
  ["unknown", "unknown"],
  ["192.0.2.1:443", "192.0.2.1:443"],
])("%s is of %s", (address, party) => {
  expect(partyOf(address)).toBe(party);
});

import { expect, test } from "vitest";
import { cronProblem } from "../../../../../services/platform-proxy/platforms/aev/cron.js";

// What Spring's CronExpression.parse takes and refuses, asked of it.

test.each([
  ["0 0 9 * * 1", "0 0 9 ? * 7", "0 0 9 L * ?", "0 0 9 LW * *", "0 0 9 15W * ?", "0 0 9 * * 5L", "0 0 9 * * FRIL"],
  ["0 0 9 * * MON#1", "0 0 9 * * 1#5", "0 0 9 L-3 * *", "0 0 9 * * 0-7", "*/5 0 9 * * *", "0 0 9 ? * ?"],
  ["0 0 9 * JAN-MAR *", "0 0 9 1/2 * *", "0 0 9 * * MON/2", "0 0 9 * * 7-1", "0 0 9 1,L * *", "0 0 9 * * *,*"],
  ["0 0 9 1-5/2 * *", "0 0 9 * * sun", "0 0 9 * feb mon-fri", "00 00 09 * * *", "0 0 9 1W,15W * *", "0 0 9 * * 0L"],
  [
    "0 0 9 * * MON-SUN",
    "0 0 9 * * tue-sun",
    "0 0 9 * * SUN-TUE",
    "0 0 9 * * fril",
    "0 007 * * * *",
    "0 0 9 15W * SAT,1",
  ],
  ["0 0/90 * * * *", "0 0 9 */2 * *", "0 0 9 29 2 *", "0 0 9 * * MONL", "0 0 9 L,15 * *", "0 0 9 31 1,2 *"],
])("expressions that Spring takes are right: %s, …", (...expressions) => {
  expect(expressions.filter((one) => cronProblem(one) !== undefined)).toEqual([]);
});

test.each([
  ["0 0 9 * * FRI-MON", "0 0 9 30-1 * *", "? 0 9 * * *", "0 0 9 * * L", "0 0 9 W * *", "0 0 9 5L * *", "0 0 9 3#1 * *"],
  ["0 0 9 * 1W *", "0L 0 9 * * *", "0#1 0 9 * * *", "0 0 9 * * MON,L", "0 0 9 * * 1/0", "0 0 9 LW-3 * *"],
  ["0 0 9 * * MON#0", "0 0 9 32 * *", "0 0 9 0 * *", "0 0 9 1-5W * *", "0 0 9 * * MON-FRI#1", "0 0 9 * * 5-2"],
  ["0 0 22-3 * * *", "0 0 9 * * ?,MON", "0 0 9 ?/2 * *", "0 5/ * * * *", "0 5- * * * *", "0 -5 * * * *"],
  ["0 0 9 l * *", "0 0 9 lw * *", "0 0 9 15w * *", "0 0 9 * * SAT-MON"],
  ["0 0 9 LW/2 * *", "0 0 9 * * MON#2/2", "0 0 24 * * *", "0 0 9 * 13 *"],
])("expressions that Spring refuses are wrong: %s, …", (...expressions) => {
  expect(expressions.filter((one) => cronProblem(one) === undefined)).toEqual([]);
});

test.each([
  ["0 0 9 31 2 *", 'never starts, because no month of "2" has a day 31'],
  ["0 0 9 31 apr,JUN *", 'never starts, because no month of "apr,JUN" has a day 31'],
  ["0 0 9 LW * SUN", 'never starts, because LW is a weekday and "SUN" is none'],
  ["0 0 9 1W,15W * 6,0", 'never starts, because 1W,15W is a weekday and "6,0" is none'],
  ["0 0 9 * * MON#6", '"MON#6" is not valid for the day of week'],
  [
    "0 0 9 * * FRI-MON",
    '"FRI-MON" is not valid for the day of week: a range cannot wrap around; give two, such as FRI-SUN,MON-MON',
  ],
  ["0 0 22-3 * * *", '"22-3" is not valid for the hours: a range cannot wrap around; give two, such as 22-23,0-3'],
])("%s is told why", (expression, problem) => {
  expect(cronProblem(expression)).toBe(problem);
});

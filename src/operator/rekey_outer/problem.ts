/** Why rekey-outer was not done: one line for people. */
export class RekeyProblem extends Error {
  override readonly name = 'RekeyProblem'
}

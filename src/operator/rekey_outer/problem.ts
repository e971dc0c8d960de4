/** Why nothing was put under another key: one line for people. */
export class RekeyProblem extends Error {
  override readonly name = 'RekeyProblem'
}

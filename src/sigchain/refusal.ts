/** The reason why a signed text is refused: a stable code, and a sentence for people. */

const sentences = {
  form: 'it is malformed',
  key: 'it has a key that is of low order or not canonical',
  workspace: 'it belongs to another workspace',
  order: 'it does not continue the chain',
  signer: 'its signer is not a member',
  signature: 'its signature is invalid',
  right: 'its signer does not have this right',
  rule: 'it does not fit the state of the chain',
  last_owner: 'no owner would remain',
  head: 'it refers to another chain, or to links that are missing here',
  epoch: 'it is from another epoch',
  mismatch: 'it is about something else',
  expired: 'the grant has expired',
  revoked: 'the token was revoked',
  revision: 'a newer one was seen before',
  root: 'the stored secrets differ from the signed ones',
  binding: 'the token was created for another workspace',
} as const

export type Reason = keyof typeof sentences

/** `detail` and `subject` are our words, never parts of the refused text. */
export class Refusal extends Error {
  override readonly name = 'Refusal'

  readonly reason: Reason
  readonly detail: string | undefined
  /** The refused text, such as `link 4`. */
  readonly subject: string | undefined

  constructor(reason: Reason, detail?: string, subject?: string) {
    const why = detail === undefined ? '' : ` (${detail})`
    super(`${subject ?? 'the signed text'} is refused: ${sentences[reason]}${why}`)
    this.reason = reason
    this.detail = detail
    this.subject = subject
  }
}

/** Runs `work`, and adds the subject to a refusal without one. */
export async function nameRefusalSubject<T>(subject: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal) || error.subject !== undefined) throw error
    throw new Refusal(error.reason, error.detail, subject)
  }
}

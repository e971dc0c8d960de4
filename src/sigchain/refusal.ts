/** Why a signed text is refused: a code that stays, and a sentence that a person understands. */

const sentences = {
  form: 'it is not a well-formed signed text of its kind',
  key: 'it names a key of low order, or one that is not canonical',
  workspace: 'it belongs to another workspace',
  order: 'it does not continue the chain',
  signer: 'its signer is not a member',
  signature: 'its signature is not that of its signer over this text',
  right: 'its signer may not do that',
  rule: 'it does not fit the state that it changes',
  last_owner: 'no owner would remain',
  head: 'it was signed on another chain, or on links that are missing here',
  epoch: 'it is of another epoch',
  mismatch: 'it speaks of something else than what it is shown for',
  expired: 'the grant is over',
  revoked: 'the token was revoked',
  revision: 'a newer one was seen before',
  root: 'the stored secrets are not those that were signed',
  binding: 'the secret of the token does not vouch for this workspace',
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

/** Does it, and names the subject of a refusal that names none. */
export async function about<T>(subject: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal) || error.subject !== undefined) throw error
    throw new Refusal(error.reason, error.detail, subject)
  }
}

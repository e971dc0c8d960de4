/**
 * Requests that a command is about to make, sent before the answers that lead to them: together, they take one round trip.
 * An answer counts only for the very request that the command then makes, and once. Others are dropped, so a wrong guess
 * costs a request and decides nothing.
 */
import type { Api, CallInput } from '../../client/http/api.ts'
import type { Endpoint } from '../../http/endpoint.ts'

export type AskAhead = <E extends Endpoint>(endpoint: E, input: CallInput<E>) => void

export function askingAhead(direct: Api): { api: Api; askAhead: AskAhead } {
  const early = new Map<string, Promise<unknown>>()
  const keyOf = ({ name }: Endpoint, input: unknown) => `${name} ${JSON.stringify(input)}`
  const take = <T>(endpoint: Endpoint, input: unknown, ask: () => Promise<T>): Promise<T> => {
    const key = keyOf(endpoint, input)
    const answer = early.get(key)
    early.delete(key)
    // The same endpoint and input have the same type of answer.
    return answer === undefined ? ask() : (answer as Promise<T>)
  }
  const whole: Api['whole'] = (endpoint, input) =>
    take(endpoint, input, () => direct.whole(endpoint, input))
  return {
    api: {
      page: direct.page,
      call: (endpoint, input) => take(endpoint, input, () => direct.call(endpoint, input)),
      list: async (endpoint, input) => (await whole(endpoint, input)).data,
      whole,
    },
    askAhead: (endpoint, input) => {
      const answer = endpoint.paged ? direct.whole(endpoint, input) : direct.call(endpoint, input)
      answer.catch(() => {})
      early.set(keyOf(endpoint, input), answer)
    },
  }
}

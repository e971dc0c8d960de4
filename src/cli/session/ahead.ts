/**
 * Requests that a command is about to make, sent before the answers that lead to them: together, they take one round trip.
 * An answer counts only for the very request that the command then makes, and once. Others are dropped, so a wrong guess
 * costs a request and decides nothing.
 */
import { type Api, type Around, type CallInput, callsWithin } from '../../client/http/api.ts'
import type { Endpoint } from '../../http/endpoint.ts'

export type AskAhead = <E extends Endpoint>(endpoint: E, input: CallInput<E>) => void

export function askAheadWith(direct: Api): { api: Api; askAhead: AskAhead } {
  const early = new Map<string, Promise<unknown>>()
  const keyOf = ({ name }: Endpoint, input: unknown) => `${name} ${JSON.stringify(input)}`
  const take: Around = <T>(call: () => Promise<T>, endpoint: Endpoint, input: unknown) => {
    const key = keyOf(endpoint, input)
    const answer = early.get(key)
    early.delete(key)
    // The same endpoint and input have the same type of answer.
    return answer === undefined ? call() : (answer as Promise<T>)
  }
  return {
    api: callsWithin(direct, take),
    askAhead: (endpoint, input) => {
      const answer = endpoint.paged ? direct.whole(endpoint, input) : direct.call(endpoint, input)
      answer.catch(() => {})
      early.set(keyOf(endpoint, input), answer)
    },
  }
}

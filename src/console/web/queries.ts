/**
 * What the page has read, by workspace and area. Commands return nothing secret but for a reveal, which does not come
 * here; all of it is forgotten when the keys are.
 */
import {
  QueryClient,
  type QueryKey,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { watchAvailability } from './availability.ts'
import { AskError, accountState, ask } from './keys/ask.ts'
import type { CommandName, Input, Returned } from './keys/messages.ts'

const STALE_MS = 15_000

export const queryClient = new QueryClient({
  defaultOptions: {
    // A refusal stays one; a server that was away may be back.
    queries: {
      // The server may be on this machine, and what cannot be reached is said instead of waited for.
      networkMode: 'always',
      staleTime: STALE_MS,
      retry: (tries, error) =>
        error instanceof AskError && error.code === 'unreachable' && tries < 2,
    },
    // What was sent may be a value that somebody typed.
    mutations: { networkMode: 'always', retry: false, gcTime: 0 },
  },
})

watchAvailability(queryClient)

let wasOpen = false
// Later reports of a locked account leave the entrance, and what is typed there, in place.
accountState.subscribe(() => {
  const isOpen = accountState.get()?.kind === 'open'
  if (wasOpen && !isOpen) queryClient.clear()
  wasOpen = isOpen
})

export const useAccountState = accountState.useValue

/** What a command returns, kept under its name and input; with a time of 0 it is read again where it is shown. */
export function useAsk<N extends CommandName>(
  name: N,
  input: Input<N>,
  staleTime = STALE_MS,
  enabled = true,
) {
  return useQuery<Returned<N>, AskError>({
    queryKey: queryKey(name, input),
    queryFn: () => ask(name, input),
    staleTime,
    enabled,
  })
}

/** The same, read again at this interval while the page is visible. */
export function useRepeatedAsk<N extends CommandName>(
  name: N,
  input: Input<N>,
  everyMs: number,
  enabled = true,
) {
  return useQuery<Returned<N>, AskError>({
    queryKey: queryKey(name, input),
    queryFn: () => ask(name, input),
    refetchInterval: everyMs,
    enabled,
  })
}

export function queryKey<N extends CommandName>(name: N, input: Input<N>): QueryKey {
  return [name, input]
}

/** What is shown at once, before the server has taken it; it is as before where the server refuses. */
export type Optimistic<I> = { key: QueryKey; update(before: never, input: I): unknown }

type Options<N extends CommandName> = {
  /** Names of commands whose results it changes. */
  changes?: readonly CommandName[]
  optimistic?: (input: Input<N>) => Optimistic<Input<N>>
}

/** A command that changes something. */
export function useCommand<N extends CommandName>(name: N, options: Options<N> = {}) {
  const { changes = [], optimistic } = options
  const client = useQueryClient()
  return useMutation<Returned<N>, AskError, Input<N>, (() => void) | undefined>({
    mutationFn: (input) => ask(name, input),
    onMutate: async (input) => {
      if (!optimistic) return undefined
      const { key, update } = optimistic(input)
      await client.cancelQueries({ queryKey: key })
      const before = client.getQueryData(key)
      if (before === undefined) return undefined
      client.setQueryData(key, update(before as never, input))
      return () => client.setQueryData(key, before)
    },
    onError: (_error, _input, rollBack) => rollBack?.(),
    onSettled: () =>
      Promise.all(changes.map((changed) => client.invalidateQueries({ queryKey: [changed] }))),
  })
}

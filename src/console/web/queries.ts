/**
 * The page's cache of command results. No result here is secret, because revealed values are not cached. The cache is
 * cleared when the keys lock.
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
    // Retry only an unreachable server. A refusal does not change.
    queries: {
      // The server may be on this machine. An unreachable server fails immediately instead of pausing the query.
      networkMode: 'always',
      staleTime: STALE_MS,
      retry: (tries, error) =>
        error instanceof AskError && error.code === 'unreachable' && tries < 2,
    },
    // The input may be a typed value.
    mutations: { networkMode: 'always', retry: false, gcTime: 0 },
  },
})

watchAvailability(queryClient)

let wasOpen = false
// Clear only when the keys lock, so that later reports keep the text in the entrance's form.
accountState.subscribe(() => {
  const isOpen = accountState.get()?.kind === 'open'
  if (wasOpen && !isOpen) queryClient.clear()
  wasOpen = isOpen
})

export const useAccountState = accountState.useValue

/** A command's result, cached by name and input. With a stale time of 0, each component reads it again. */
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

/** A command's result, read again at this interval while the page is visible. */
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

/** An update that is shown before the server answers, and rolled back if the server refuses. */
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

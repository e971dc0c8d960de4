/** A connection in progress: started, asked about once a second, and cancelled when its sheet closes. */
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import { AskError, ask } from '../../../keys/ask.ts'
import type { Returned } from '../../../keys/messages.ts'
import { CHANGED } from '../place.ts'

export type Started = Returned<'connections.start'>
type Stored = Extract<Returned<'connections.poll'>, { state: 'stored' }>

const POLL_MS = 1_000

export function useFlow(allow: boolean, onStored: (stored: Stored) => void) {
  const [started, setStarted] = useState<Started | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [isPending, setPending] = useState(false)
  const begin = useCallback(async (start: () => Promise<Started>) => {
    setPending(true)
    setError(null)
    try {
      setStarted(await start())
    } catch (failure) {
      setError(failure)
    }
    setPending(false)
  }, [])
  const end = useCallback((failure: unknown) => {
    setStarted(null)
    setError(failure)
  }, [])
  usePolling(started, allow, { onStored, onOver: end, onFailure: setError })
  return { started, error, isPending, begin }
}

type Listener = {
  onStored(stored: Stored): void
  onOver(error: unknown): void
  /** It is asked again. */
  onFailure(error: unknown): void
}

function usePolling(started: Started | null, allow: boolean, listener: Listener): void {
  const { onStored, onOver, onFailure } = listener
  const client = useQueryClient()
  useEffect(() => {
    if (!started) return
    const { connection } = started
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const scheduleNext = () => {
      timer = setTimeout(look, POLL_MS)
    }
    const look = () => ask('connections.poll', { connection, allow }).then(take, fail)
    const take = (answer: Returned<'connections.poll'>) => {
      if (isOver) return
      if (answer.state === 'waiting') return scheduleNext()
      isOver = true
      for (const changed of CHANGED) void client.invalidateQueries({ queryKey: [changed] })
      onStored(answer)
    }
    const fail = (error: unknown) => {
      if (isOver) return
      isOver = isFinal(error)
      if (isOver) return onOver(error)
      onFailure(error)
      scheduleNext()
    }
    scheduleNext()
    return () => {
      clearTimeout(timer)
      if (!isOver) ask('connections.cancel', { connection }).catch(() => {})
      isOver = true
    }
  }, [started, allow, onStored, onOver, onFailure, client])
}

function isFinal(error: unknown): boolean {
  return error instanceof AskError && error.code.startsWith('connect_')
}

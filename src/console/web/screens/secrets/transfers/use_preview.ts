/** The changes of a transfer, read again when its source or target changes. */
import { useCallback, useEffect, useState } from 'react'
import { ask } from '../../../keys/ask.ts'
import type { Input, Returned } from '../../../keys/messages.ts'

export type TransferOrder = Input<'transfers.preview'>
type Preview = Returned<'transfers.preview'>
type State = { order: TransferOrder | null; data: Preview | null; error: unknown }

const NONE: State = { order: null, data: null, error: null }

/** `order` must be the same object while nothing changes. The page keeps neither a source nor a preview. */
export function usePreview(order: TransferOrder | null) {
  const [state, setState] = useState<State>(NONE)
  const [count, setCount] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the count triggers another read.
  useEffect(() => {
    if (!order) return
    let isLate = false
    ask('transfers.preview', order).then(
      (data) => isLate || setState({ order, data, error: null }),
      (error) => isLate || setState({ order, data: null, error }),
    )
    return () => {
      isLate = true
    }
  }, [order, count])
  const again = useCallback(() => setCount((before) => before + 1), [])
  const { data, error } = state.order === order ? state : NONE
  return { data, error, isPending: order !== null && data === null && error === null, again }
}

import { z } from 'zod'

/** `count/seconds`, as in RATE_LOGIN=240/60. */
export type Rate = { count: number; seconds: number }

export const rate = z
  .string()
  .regex(/^[1-9]\d{0,6}\/[1-9]\d{0,5}$/, 'must be count/seconds, both whole numbers above 0')
  .transform((text): Rate => {
    const [count, seconds] = text.split('/').map(Number)
    return { count: count ?? 1, seconds: seconds ?? 1 }
  })

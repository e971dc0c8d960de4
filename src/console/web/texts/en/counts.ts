/** Numbers of things. */
const counter =
  (one: string, other = `${one}s`) =>
  (count: number) =>
    `${count} ${count === 1 ? one : other}`

export const secretCount = counter('secret')
export const dayCount = counter('day')
export const callCount = counter('call')

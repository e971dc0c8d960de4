/** Styles of fields. Below 720 px inputs have 16 px text, because phones zoom in on smaller text. */
export const FIELD = 'flex min-w-0 flex-col gap-1'
export const FIELD_LABEL = 'text-body font-medium'
export const BOX =
  'rounded-control border border-control bg-surface text-ink placeholder:text-ink-3 phone:text-input invalid:border-red off:opacity-50'
export const INPUT = `${BOX} h-8 w-full min-w-0 px-2.5 phone:h-10`
export const HELP = 'text-small text-ink-2'
export const ERROR = 'text-small text-red'

/** Styles of lists that pop up: menus, options and suggestions. */
export const POPOVER =
  'min-w-44 max-h-80 overflow-auto rounded-card bg-surface shadow-pop outline-none'
export const LIST = 'flex flex-col p-1 outline-none'
export const ITEM =
  'flex min-h-7.5 cursor-pointer items-center gap-2 rounded-[6px] px-2 py-1 text-body text-ink outline-none data-focused:bg-hover phone:min-h-11 off:opacity-50'

import type { VNode } from 'preact'
import { DAY, timestamp } from '../../model/time.ts'
import { html } from '../html.ts'

const PRESETS = [7, 30, 60, 90]
/** The default of a new token. */
export const DEFAULT_DAYS = 30

/** The days of a submitted form as text: the number that was entered, else the preset that was chosen. */
export function daysOf(form: URLSearchParams): string {
  const [days, custom] = [form.get('days') ?? '', form.get('custom_days') ?? '']
  if (custom.trim() !== '') return custom
  return days === 'custom' ? '' : days
}

/**
 * The choice of a lifetime: a few presets, or a number of days. Without a script, an entered number counts whatever is chosen; a script
 * keeps both in step.
 * @param days as text; it may be invalid
 * @param max the maximum in days
 */
export function renderLifetime({ days, max, error, now }: { days: string; max: number; error?: string | undefined; now: number }): VNode {
  const presets = PRESETS.filter((preset) => preset <= max)
  const isPreset = presets.some((preset) => String(preset) === days)
  const describedBy = ['custom_days-hint', error && 'days-error'].filter(Boolean).join(' ')
  return html`<fieldset class="lifetime" data-lifetime>
    <legend>Lifetime</legend>
    <div class="presets">
      ${presets.map(
        (preset) =>
          html`<div class="preset">
            <input
              type="radio"
              id="days-${preset}"
              name="days"
              value=${preset}
              checked=${String(preset) === days}
              aria-describedby="days-${preset}-until"
            />
            <label for="days-${preset}">${preset} days</label>
            <span class="hint" id="days-${preset}-until">until ${timestamp(() => now + preset * DAY).slice(0, 10)}</span>
          </div>`,
      )}
    </div>
    <div class="custom">
      <input type="radio" id="days-custom" name="days" value="custom" checked=${!isPreset} />
      <label for="days-custom">Custom</label>
      <label for="custom_days" class="unseen">Lifetime in days</label>
      <input
        type="number"
        id="custom_days"
        name="custom_days"
        min="1"
        max=${max}
        value=${isPreset ? '' : days}
        inputmode="numeric"
        autocomplete="off"
        aria-describedby=${describedBy}
        aria-invalid=${error === undefined ? undefined : 'true'}
      />
      <p class="hint" id="custom_days-hint">days, from 1 to ${max}</p>
    </div>
    ${error && html`<p class="error" id="days-error">${error}</p>`}
  </fieldset>`
}

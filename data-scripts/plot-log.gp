# Plots a log of gcg-mc fit by column name: test RMSE and gap against time, to a PNG and as text.
#   gnuplot -e "log='fit.log'" plot-log.gp        png='FILE' and text_width=N may be given too
if (!exists("png")) png = log[1:strlen(log)-4].".png"
if (!exists("text_width")) text_width = 76
set datafile separator tab
set datafile commentschars "#"
set datafile missing "nan"
set key autotitle columnhead
unset key

set terminal dumb text_width,18
set xlabel "seconds"
set title "relative gap (log scale)"
set logscale y
set format y "10^%T"
plot log using "time_s":"gap" with linespoints pointtype "*"
unset logscale y
set format y "%g"
set title "test RMSE"
plot log using "time_s":"test_rmse" every ::1 with linespoints pointtype "*"

set terminal pngcairo size 1000,420 noenhanced font "Sans,11"
set output png
set multiplot layout 1,2
set grid
set title "relative gap"
set logscale y
set format y "%.0e"
set ylabel "(objective - bound) / objective"
plot log using "time_s":"gap" with linespoints linewidth 2 pointtype 7
unset logscale y
set format y "%g"
set title "RMSE on held-out ratings"
set ylabel "RMSE"
plot log using "time_s":"test_rmse" every ::1 with linespoints linewidth 2 pointtype 7
unset multiplot

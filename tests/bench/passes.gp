# Cost of a pass against the number of ratings, on the terminal and as png and svg: see bench_large.sh, which sets data, most
# and out.
set datafile separator "\t"
set title "line search and gradient: nanoseconds for each rating and pass"
set xlabel "ratings"
set logscale x
set format x "10^{%L}"
set yrange [0:*]
set key bottom right
set terminal dumb 79 20
set format x "%.0e"
plot data using ($2 == 1 ? $1 : NaN):3 with linespoints title "1 thread", \
     data using ($2 == most && most > 1 ? $1 : NaN):3 with linespoints title most . " threads"
set format x "10^{%L}"
set terminal pngcairo size 800,500
set output out . ".png"
replot
set terminal svg size 800,500
set output out . ".svg"
replot
